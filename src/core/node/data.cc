// core/node/data.cc
//
// What nodes say about datasets: of jobs that wait for them, and of those in their caches. Neither
// is stored: nodes say it again.
#include <algorithm>

#include "core/node/verbs.h"

namespace sluice {

namespace {

using Nodes = std::vector<DataProgress>;

void put(Nodes& nodes, const DataProgress& progress) {
    const auto known = std::find_if(nodes.begin(), nodes.end(), [&](const DataProgress& each) {
        return each.node == progress.node;
    });
    if (known == nodes.end())
        nodes.push_back(progress);
    else
        *known = progress;
}

}  // namespace

void set_datasets(NodeFacts& facts, std::vector<std::uint64_t> datasets) {
    std::sort(datasets.begin(), datasets.end());
    facts.datasets = std::move(datasets);
}

void on_data_progressed(Cluster& cluster, const DataProgressed& event) {
    const auto job = cluster.find_job(event.run.job);
    if (!job || job->run.restarts != event.run.restarts || !is_live(*job)) return;
    if (!job->run.allocation->find(event.progress.node)) return;
    const auto& before = job->run.data_progress;
    auto nodes = before ? std::make_shared<Nodes>(*before) : std::make_shared<Nodes>();
    put(*nodes, event.progress);
    cluster.edit_shown(job->id)->run.data_progress = std::move(nodes);
}

void on_data_cached(Cluster& cluster, const DataCached& event) {
    const Edit<Node> node = cluster.edit_node(event.node);
    if (node->facts) set_datasets(*node->facts, event.datasets);
}

}  // namespace sluice
