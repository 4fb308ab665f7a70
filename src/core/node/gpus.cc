// core/node/gpus.cc
//
// GPUs that are out of service, while the rest of their node goes on: slurmd has found a process of
// no job on them, memory that is not free or a fatal error, or an administrator has said so.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/job/gpu_policy.h"
#include "core/node/verbs.h"
#include "core/place/pools.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/key_values.h"

namespace sluice {

namespace {

constexpr std::string_view kGpu = "gpu";

const DrainedGpu* find_drained(const Node& node, std::uint32_t gpu) {
    for (const DrainedGpu& each : node.drained_gpus) {
        if (each.gpu == gpu) return &each;
    }
    return nullptr;
}

// The list after the report. A lasting entry stays; the time of an entry that goes on is kept.
std::vector<DrainedGpu> after_report(const Node& node, Time now, const GpuReport& report) {
    std::vector<DrainedGpu> drained;
    for (const DrainedGpu& each : node.drained_gpus) {
        if (each.is_lasting) drained.push_back(each);
    }
    for (const UnfitGpu& unfit : report.unfit) {
        const DrainedGpu* before = find_drained(node, unfit.gpu);
        if (before && before->is_lasting) continue;
        const Time since = before ? before->since : now;
        const bool goes_on = before && !unfit.is_lasting;
        drained.push_back(
            {unfit.gpu, goes_on ? before->reason : unfit.reason, since, unfit.is_lasting});
    }
    std::sort(drained.begin(), drained.end(),
              [](const DrainedGpu& a, const DrainedGpu& b) { return a.gpu < b.gpu; });
    const auto same = [](const DrainedGpu& a, const DrainedGpu& b) { return a.gpu == b.gpu; };
    drained.erase(std::unique(drained.begin(), drained.end(), same), drained.end());
    return drained;
}

void set_drained(Cluster& cluster, Time now, NodeIndex index, std::vector<DrainedGpu> drained) {
    if (cluster.node(index).drained_gpus == drained) return;
    const bool frees_one = drained.size() < cluster.node(index).drained_gpus.size();
    {
        const Edit<Node> node = cluster.edit_node(index);
        node->drained_gpus = std::move(drained);
        mark_drained(node->gres, node->drained_gpus);
    }
    cluster.mark_stored(index);
    if (frees_one) unpark_all(cluster, now);
    cluster.want_pass();
}

std::uint64_t gpus_of(const Node& node) {
    std::uint64_t count = 0;
    for (const GresPool& pool : node.gres) {
        if (pool.name == kGpu) count += pool.count;
    }
    return count;
}

// Of "gpu:0-1,3"; the text was checked.
std::vector<std::uint32_t> numbers_in(const std::string& text) {
    return parse_numbers(std::string_view(text).substr(kGpu.size() + 1), sizes::kNameCount)
        .value_or(std::vector<std::uint32_t>{});
}

Result<void> check_numbers(const Node& node, std::string_view key,
                           const std::optional<std::string>& text) {
    if (!text) return {};
    for (const std::uint32_t gpu : numbers_in(*text)) {
        if (gpu < gpus_of(node)) continue;
        return Error{ErrorCode::InvalidGres, fmt::format("{}={}: node {} has {} GPUs", key, *text,
                                                         node.config.name, gpus_of(node))};
    }
    return {};
}

}  // namespace

Result<void> check_gpu_change(const Node& node, const NodeChange& change) {
    TRY(check_numbers(node, "GresDrain", change.gres_drain));
    return check_numbers(node, "GresResume", change.gres_resume);
}

void change_gpus(Cluster& cluster, Time now, NodeIndex index, const NodeChange& change) {
    std::vector<DrainedGpu> drained = cluster.node(index).drained_gpus;
    for (const std::uint32_t gpu : numbers_in(change.gres_resume.value_or("gpu:"))) {
        std::erase_if(drained, [&](const DrainedGpu& each) { return each.gpu == gpu; });
    }
    for (const std::uint32_t gpu : numbers_in(change.gres_drain.value_or("gpu:"))) {
        std::erase_if(drained, [&](const DrainedGpu& each) { return each.gpu == gpu; });
        drained.push_back({gpu, change.reason.value_or("by an administrator"), now, true});
    }
    std::sort(drained.begin(), drained.end(),
              [](const DrainedGpu& a, const DrainedGpu& b) { return a.gpu < b.gpu; });
    set_drained(cluster, now, index, std::move(drained));
}

void on_gpus_reported(Cluster& cluster, Time now, const GpusReported& event, Effects& effects) {
    if (event.report.has_health)
        set_drained(cluster, now, event.node,
                    after_report(cluster.node(event.node), now, event.report));
    on_gpu_loads(cluster, now, event.node, event.report, effects);
}

}  // namespace sluice
