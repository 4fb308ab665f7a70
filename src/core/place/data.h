// core/place/data.h
//
// Which nodes have the datasets of a job (--stage-in) in their caches already. Among nodes of the
// same weight these come first.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "core/cluster.h"

namespace sluice {

// source_hash() of each; empty for most jobs.
std::set<std::uint64_t> data_sources(std::string_view stage_in);
std::set<std::uint64_t> data_sources(const Job& job);
std::uint32_t count_datasets(const Node& node, const std::set<std::uint64_t>& sources);

// By node index; empty: no node has any, or the job needs none.
std::vector<std::uint32_t> datasets_on_nodes(const Cluster& cluster, std::string_view stage_in);

}  // namespace sluice
