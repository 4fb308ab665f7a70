// agent/known_users.h
//
// Who users are, as the last supervisor that asked the system found them: the next one need not ask
// again. Where users live in a directory service, each question costs more than starting a job.
// slurmd never asks itself: the answer may take long.
#pragma once

#include <chrono>
#include <map>
#include <utility>

#include "order.pb.h"

namespace sluice {

class KnownUsers {
public:
    using Moment = std::chrono::steady_clock::time_point;

    void remember(const wire::UserRecord& user, Moment now);
    // Nothing where it was never found out, or longer ago than `age_max`.
    const wire::UserRecord* find(std::uint32_t user, std::uint32_t group,
                                 std::chrono::seconds age_max, Moment now) const;

private:
    struct Known {
        wire::UserRecord user;
        Moment since;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Known> known_;  // by user and the job's group
};

}  // namespace sluice
