// core/limits/limit_book.h
//
// Which jobs count against the limits of which QOS, and with how much. Kept only where limits are
// enforced; computed again from the jobs after a restart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/job.h"

namespace sluice {

struct LimitUse {
    Tres tres;                                 // all but nodes:
    std::map<NodeIndex, std::uint32_t> nodes;  // how many of the jobs are on it
    std::uint64_t running = 0;
    std::uint64_t submitted = 0;  // tasks of arrays one by one
    bool operator==(const LimitUse&) const = default;
};

struct QosUse {
    LimitUse all;
    std::map<UserId, LimitUse> of_user;
    std::map<std::string, LimitUse> of_account;
    bool operator==(const QosUse&) const = default;
};

struct LimitBook {
    struct Entry {
        std::vector<std::string> qos;  // the job's own and those of its partitions
        UserId user;
        std::string account;
        LimitUse use;
        bool operator==(const Entry&) const = default;
    };
    std::unordered_map<std::uint32_t, Entry> jobs;  // by id
    std::map<std::string, QosUse> by_qos;
    bool has_more_room = false;  // something was given back since the last pass
};

class Cluster;

// Updates the book from the job: call after any change of what counts.
void count_job(Cluster& cluster, const Job& job);
void count_anew(Cluster& cluster);
// Whether the book agrees with the jobs.
bool is_counted_right(const Cluster& cluster);

}  // namespace sluice
