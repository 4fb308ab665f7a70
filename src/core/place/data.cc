#include "core/place/data.h"

#include <algorithm>

#include "model/stage_in.h"

namespace sluice {

std::set<std::uint64_t> data_sources(std::string_view stage_in) {
    std::set<std::uint64_t> sources;
    const Result<std::vector<StageIn>> all = parse_stage_ins(stage_in);
    if (!all) return sources;
    for (const StageIn& one : *all) sources.insert(source_hash(one.source));
    return sources;
}

std::set<std::uint64_t> data_sources(const Job& job) {
    return data_sources(job.details->text(&JobDetails::stage_in));
}

std::uint32_t count_datasets(const Node& node, const std::set<std::uint64_t>& sources) {
    if (!node.facts) return 0;
    const auto& here = node.facts->datasets;
    return static_cast<std::uint32_t>(std::count_if(
        sources.begin(), sources.end(),
        [&](std::uint64_t each) { return std::binary_search(here.begin(), here.end(), each); }));
}

std::vector<std::uint32_t> datasets_on_nodes(const Cluster& cluster, std::string_view stage_in) {
    if (stage_in.empty()) return {};
    const std::set<std::uint64_t> sources = data_sources(stage_in);
    std::vector<std::uint32_t> counts;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i)
        counts.push_back(count_datasets(cluster.node(NodeIndex{i}), sources));
    const bool is_anywhere =
        std::any_of(counts.begin(), counts.end(), [](std::uint32_t count) { return count > 0; });
    return is_anywhere ? counts : std::vector<std::uint32_t>{};
}

}  // namespace sluice
