// sim/faults/rules.h
//
// Rules beyond the core's own invariants, computed from the records: a job that has just started
// was allowed to start, and steps stay within their jobs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/cluster.h"
#include "core/schedule/dependents.h"
#include "sim/faults/rows.h"

namespace sluice {

class Rules {
public:
    // After every event: which jobs have ever started and ended. A dependency stays fulfilled.
    void note(const Cluster& cluster);
    // Before a pass: those that run already, and those that are held.
    void note_queue(const Cluster& cluster);
    // After it: what is wrong with one that has started since.
    std::optional<std::string> broken_by_start(const Cluster& cluster, Time now) const;
    std::optional<std::string> broken_step(const Cluster& cluster) const;
    // Every job that waits for nothing of its own is looked at by passes, or when something
    // changes.
    std::optional<std::string> broken_queue(const Cluster& cluster, Time now) const;

    // What accounting will read: each run that has ended has one row, the restarts of a job count
    // without gaps, and each ended step has a row. Nodes are counted once in what was used.
    std::optional<std::string> broken_rows(const Rows& rows) const;

private:
    struct History {
        bool started = false;
        std::set<JobState> ends;
    };

    bool is_alone(const Cluster& cluster, const Job& job) const;
    bool holds(const Cluster& cluster, const Job& job, const Condition& condition) const;
    const History& history(const AwaitedKey& key) const;

    std::map<AwaitedKey, History> histories_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> running_;  // job, restarts
    std::set<AwaitedKey> held_;
};

}  // namespace sluice
