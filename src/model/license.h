// model/license.h
//
// Licences as jobs request them: "matlab:2,ansys" is all of them, "matlab|octave:2" any one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

struct LicenseCount {
    std::string name;
    std::uint32_t count = 1;
    bool operator==(const LicenseCount&) const = default;
};

struct LicenseDemand {
    std::vector<LicenseCount> wanted;  // each name once, none with a count of zero
    bool any = false;                  // one of them is enough
    bool operator==(const LicenseDemand&) const = default;
};

// Compat: text that does not parse is an InvalidLicense. Empty text asks for nothing.
Result<LicenseDemand> parse_licenses(std::string_view text);
std::string print_licenses(const std::vector<LicenseCount>& licenses);  // "matlab:2,ansys:1"

}  // namespace sluice
