// controller/known_users.h
//
// Whether this host knows a user: a job of an unknown user could not start, and would drain the
// nodes that try. Known users are cached for GroupUpdateTime, unknown ones only for a moment, as
// they may just have been added. For any thread.
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/time.h"
#include "model/job.h"

namespace sluice {

class KnownUsers {
public:
    // Nothing: it has to be looked up.
    std::optional<bool> remembered(UserId user, Seconds age_max, Time now) const;
    // May take long. If the user database fails, the user counts as known.
    bool look_up(UserId user, Time now);
    void forget();  // they may have changed

private:
    struct Known {
        bool exists;
        Time asked;
    };
    mutable std::mutex mutex_;
    std::unordered_map<std::uint32_t, Known> users_;
};

}  // namespace sluice
