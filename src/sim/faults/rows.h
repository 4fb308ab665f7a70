// sim/faults/rows.h
//
// What a virtual controller has on disk: rows with the encoding of the real stores. Batches are
// committed whole; what a crash leaves behind is what load() gives back. Every committed row is
// read back at once: one that a restart would refuse ends the simulation.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "store/store.h"

namespace sluice {

class Rows {
public:
    // `names`: what the nodes are called: indexes mean nothing after a restart. False: a later
    // epoch was taken, and nothing is written.
    bool commit(const ChangedRecords& changes, std::shared_ptr<const NodeNames> names, Epoch epoch);
    StoredState load() const;
    // What accounting knows: the last fact of each run, and of each step.
    const AccountedJob* run(JobId job, std::uint32_t restarts) const;
    const AccountedStep* step(const RunId& step) const;

    Store& store() { return *store_; }
    const std::map<std::uint32_t, Job>& jobs() const { return jobs_; }
    // The last records of jobs that are past MinJobAge.
    const std::map<std::uint32_t, Job>& forgotten() const { return forgotten_; }

private:
    std::unique_ptr<Store> store_ = memory_store();
    std::map<std::pair<std::uint32_t, std::uint32_t>, AccountedJob> accounted_runs_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, AccountedStep>
        accounted_steps_;
    std::map<std::uint32_t, Job> jobs_;
    std::map<std::uint32_t, Job> forgotten_;
};

}  // namespace sluice
