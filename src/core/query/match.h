// core/query/match.h
//
// Does a job match a filter? The names in the filter are resolved once.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/cluster.h"
#include "model/filter.h"

namespace sluice {

class JobMatcher {
public:
    using FindNode = std::function<std::optional<NodeIndex>(const std::string&)>;
    JobMatcher(const Filter& filter, const FindNode& find_node);

    // Everything but filter.jobs, which is looked up and not searched for.
    bool matches(const Job& job) const;
    bool wants(const ChunkSummary<Job>& summary) const;

private:
    const Filter& filter_;
    std::vector<NodeIndex> nodes_;
    std::uint32_t states_ = 0;  // bit per ShownState
};

}  // namespace sluice
