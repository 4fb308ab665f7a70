// core/limits/limit_book.h
//
// Which jobs count against the limits of which QOS and associations, and with how much. Kept only
// where limits are enforced; computed again from the jobs after a restart.
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
    // For what running jobs may still use, only where that is limited: the sum of amount * (end -
    // now) is that of amount * end without now * the sum of amounts. Amounts are in thousandths,
    // multiplied by UsageFactor. Sums may overflow: only their difference counts.
    std::map<std::string, std::uint64_t> weighed, weighed_ends;
    bool operator==(const LimitUse&) const = default;

    std::uint64_t held(const std::string& tres) const;
    std::uint64_t seconds_left(const std::string& tres, Time now) const;  // amount * time
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
        std::vector<std::string> qos;             // the job's own and those of its partitions
        std::vector<std::uint32_t> associations;  // that are limited: its own and those above it
        UserId user;
        std::string account;
        LimitUse use;
        bool operator==(const Entry&) const = default;
    };
    const std::unordered_map<std::uint32_t, Entry>& jobs() const { return jobs_; }  // by id
    const QosUse* find(const std::string& qos) const;
    const LimitUse* find_association(std::uint32_t id) const;
    const Entry* find(JobId job) const;
    void put(JobId job, Entry entry);  // replaces that of the job, if any
    void drop(JobId job);
    // Whether something that jobs held was given back since the last call.
    // Waiting jobs at a limit are looked at again in the next pass: usage has decayed, for example.
    void note_more_room() { has_more_room_ = true; }
    bool take_has_more_room() { return std::exchange(has_more_room_, false); }

    // The book equals one that is made from all jobs; the text says what is different.
    std::optional<std::string> broken(const Cluster& cluster) const;

private:
    friend void count_anew(Cluster& cluster);

    std::unordered_map<std::uint32_t, Entry> jobs_;  // by id
    std::map<std::string, QosUse> by_qos_;           // their sums
    std::unordered_map<std::uint32_t, LimitUse> by_association_;
    bool has_more_room_ = false;
};

// Updates the book from the job: call after any change of what counts.
void count_job(Cluster& cluster, const Job& job);
void count_anew(Cluster& cluster);
// How long a job counts as running, in limits on its minutes: without a time limit a year.
Seconds counted_length(TimeLimit limit);

}  // namespace sluice
