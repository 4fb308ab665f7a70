// policy/words.h
//
// The words of a command of sacctmgr, or of a line of a dump: conditions (where), settings (set),
// and how a listing looks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/change.h"

namespace sluice {

enum class SacctmgrEntity : std::uint8_t {
    Account,
    Association,
    Cluster,
    Coordinator,
    Event,
    Problem,
    Qos,
    Reservation,
    Resource,
    RunawayJobs,
    Transaction,
    Tres,
    User,
    Wckey,
};

struct SacctmgrWords {
    PolicyStep step;
    bool has_conditions = false;
    bool has_settings = false;
    // Of listings
    std::string format;
    std::vector<std::string> flags;                         // "tree", "withassoc": see kListFlags
    std::map<std::string, std::vector<std::string>> where;  // other conditions: "users", "start"

    bool has(std::string_view flag) const;
    // The values of a condition; empty: there is none.
    const std::vector<std::string>& condition(const std::string& name) const;
    bool selects(const std::string& name, std::string_view value) const;
};

// Whether it is one of them; without names anything is.
bool is_among(const std::vector<std::string>& names, std::string_view name);
std::string format_or(const SacctmgrWords& words, std::string_view format);

// Whether `given` is `full` or a beginning of it with at least `least` letters, any case.
bool means(std::string_view given, std::string_view full, std::size_t least);

// An error's detail is the complete text.
Result<SacctmgrWords> read_list_words(SacctmgrEntity entity, const std::vector<std::string>& words);
Result<SacctmgrWords> read_change_words(SacctmgrEntity entity, PolicyVerb verb,
                                        const std::vector<std::string>& words);

}  // namespace sluice
