// model/limit_keys.h
//
// How limits of QOS and associations are written: "cpu=8,gres/gpu=2", "10", "1-00:00:00", "0.5"; -1
// removes a limit. Every error names key and value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/qos.h"

namespace sluice {

// One word of a change: "Preempt+=a,b" has the sign '+'.
struct LimitWord {
    std::string_view key;
    char sign = 0;
    const std::string& value;
    std::string_view tres = {};  // of which resource the value is a count
};

Error invalid_limit(const LimitWord& word);  // "Invalid value for GrpJobs (x)"
bool removes_limit(const LimitWord& word);   // its value is -1

// Adds to the existing limits: those of resources that are not named stay.
Result<void> change_tres_limit(TresChange& tres, const LimitWord& word);
Result<void> change_count_limit(std::optional<LimitChange<std::uint32_t>>& limit,
                                const LimitWord& word);
// Compat: in whole minutes.
Result<void> change_wall_limit(std::optional<LimitChange<Seconds>>& limit, const LimitWord& word);
// "2.5": in thousandths.
Result<void> change_factor_limit(std::optional<LimitChange<std::uint32_t>>& limit,
                                 const LimitWord& word);

}  // namespace sluice
