// core/query/match.h
//
// Matches jobs against a filter. The lists of the filter are sorted once, so that long ones cost
// little.
#pragma once

#include <vector>

#include "core/cluster.h"
#include "model/filter.h"

namespace sluice {

class JobMatcher {
public:
    JobMatcher(const Filter& filter, std::vector<NodeIndex> nodes);  // those of filter.nodes

    // Everything but filter.jobs, which are looked up by id.
    bool matches(const Job& job) const;
    bool wants(const ChunkSummary<Job>& summary) const;

private:
    Filter filter_;  // without its jobs and nodes
    std::vector<NodeIndex> nodes_;
    bool is_anywhere_ = true;   // the filter names no nodes
    std::uint32_t states_ = 0;  // bit per ShownState
};

}  // namespace sluice
