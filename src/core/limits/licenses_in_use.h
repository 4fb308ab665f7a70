// core/limits/licenses_in_use.h
//
// How many licences of each name jobs hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cow_table.h"
#include "model/job.h"
#include "model/license.h"

namespace sluice {

class LicensesInUse {
public:
    using Counts = std::map<std::string, std::uint32_t>;  // by name, none is 0

    std::uint32_t of(const std::string& name) const;
    const Counts& all() const { return counts_; }
    void take(const std::vector<LicenseCount>& licenses);
    void give_back(const std::vector<LicenseCount>& licenses);  // they were taken

    // Jobs that hold nodes hold exactly these licences; the text says what is different.
    std::optional<std::string> broken(const CowTable<Job>& jobs) const;

private:
    Counts counts_;
};

}  // namespace sluice
