// sim/faults/rows.h
//
// What a virtual controller has on disk: the rows of the store, without the encoding. Batches are
// committed whole; what a crash leaves behind is what load() gives back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cluster.h"

namespace sluice {

class Rows {
public:
    // `cluster` says what the nodes are called: indexes mean nothing after a restart.
    void commit(const ChangedRecords& changes, const Cluster& cluster);
    StoredState load() const;

    const std::map<std::uint32_t, Job>& jobs() const { return jobs_; }
    // How those were remembered that are past MinJobAge.
    const std::map<std::uint32_t, Job>& forgotten() const { return forgotten_; }

private:
    std::map<std::uint32_t, Job> jobs_;
    std::map<std::uint32_t, Job> forgotten_;
    std::map<std::uint32_t, std::vector<std::string>> allocated_, completing_;
    std::map<std::uint32_t, std::vector<std::vector<std::string>>> step_nodes_;
    std::map<std::string, Reservation> reservations_;
    std::map<std::string, StoredState::StoredNode> nodes_;
    std::vector<Qos> qos_;
    std::uint32_t next_job_id_ = 0;
};

}  // namespace sluice
