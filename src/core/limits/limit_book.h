// core/limits/limit_book.h
//
// Which jobs count against the limits of which QOS, and with how much. Kept only where limits are
// enforced; computed again from the jobs after a restart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
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

class Cluster;

class LimitBook {
public:
    struct Entry {
        std::vector<std::string> qos;  // the job's own and those of its partitions
        UserId user;
        std::string account;
        LimitUse use;
        bool operator==(const Entry&) const = default;
    };
    const std::unordered_map<std::uint32_t, Entry>& jobs() const { return jobs_; }  // by id
    const QosUse* find(const std::string& qos) const;
    const Entry* find(JobId job) const;
    void put(JobId job, Entry entry);  // replaces that of the job, if any
    void drop(JobId job);
    // Whether something that jobs held was given back since the last call.
    bool take_has_more_room() { return std::exchange(has_more_room_, false); }

    // The book equals one that is made from all jobs; the text says what is different.
    std::optional<std::string> broken(const Cluster& cluster) const;

private:
    friend void count_anew(Cluster& cluster);

    std::unordered_map<std::uint32_t, Entry> jobs_;  // by id
    std::map<std::string, QosUse> by_qos_;           // their sums
    bool has_more_room_ = false;
};

// Updates the book from the job: call after any change of what counts.
void count_job(Cluster& cluster, const Job& job);
void count_anew(Cluster& cluster);

}  // namespace sluice
