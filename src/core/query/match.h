// core/query/match.h
//
// Does a job match a filter? The lists of the filter are sorted once, so that long ones cost
// little.
#pragma once

#include <vector>

#include "core/cluster.h"
#include "model/filter.h"

namespace sluice {

class JobMatcher {
public:
    JobMatcher(const Filter& filter, std::vector<NodeIndex> nodes);  // those of filter.nodes

    // Everything but filter.jobs, which is looked up and not searched for.
    bool matches(const Job& job) const;
    bool wants(const ChunkSummary<Job>& summary) const;

private:
    Filter filter_;  // without its jobs and nodes
    std::vector<NodeIndex> nodes_;
    bool is_anywhere_ = true;   // no nodes are named
    std::uint32_t states_ = 0;  // bit per ShownState
};

}  // namespace sluice
