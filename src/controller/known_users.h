// controller/known_users.h
//
// Whether this host knows a user: a job of one that it does not know would start nowhere, and
// drain the nodes that try. Known users are remembered for GroupUpdateTime, unknown ones for a
// moment only, as they may have been made just now. For any thread.
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
    // May take long. A user database that cannot be asked knows everybody.
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
