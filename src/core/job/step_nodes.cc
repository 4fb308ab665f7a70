#include "core/job/step_nodes.h"

#include <algorithm>
#include <map>

#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

const std::string& node_name(const Cluster& cluster, const NodeShare& share) {
    return cluster.node(share.node).config.name;
}

// Every name of the list is a task on that node.
Result<StepNodes> nodes_of_tasks(const Cluster& cluster, const Job& job,
                                 const std::vector<std::string>& names) {
    std::map<std::string_view, std::uint32_t> counts;
    for (const std::string& name : names) ++counts[name];
    StepNodes found{.nodes = {}, .are_named = true, .tasks = {}};
    for (const NodeShare& share : job.run.allocation->nodes) {
        auto tasks = counts.find(node_name(cluster, share));
        if (tasks == counts.end()) continue;
        found.nodes.push_back(&share);
        found.tasks.push_back(tasks->second);
    }
    if (found.nodes.size() < counts.size()) return Error{ErrorCode::NodeConfigUnavailable, {}};
    return found;
}

bool is_listed(const std::vector<std::string>& sorted, const std::string& name) {
    return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace

Result<StepNodes> step_nodes(const Cluster& cluster, const Job& job, const StepDemand& demand) {
    std::vector<std::string> named, excluded;
    if (!demand.nodelist.empty()) named = TRY(Hostlist::parse(demand.nodelist)).names();
    if (demand.distribution == "arbitrary") return nodes_of_tasks(cluster, job, named);
    if (!demand.exclude.empty()) excluded = TRY(Hostlist::parse(demand.exclude)).names();
    std::sort(named.begin(), named.end());
    std::sort(excluded.begin(), excluded.end());
    const std::vector<NodeShare>& all = job.run.allocation->nodes;
    StepNodes found{.nodes = {}, .are_named = !named.empty(), .tasks = {}};
    for (std::size_t i = demand.first_node; i < all.size(); ++i) {
        const std::string& name = node_name(cluster, all[i]);
        if (is_listed(excluded, name)) continue;
        if (named.empty() || is_listed(named, name)) found.nodes.push_back(&all[i]);
    }
    named.erase(std::unique(named.begin(), named.end()), named.end());
    if (found.nodes.size() < named.size()) return Error{ErrorCode::NodeConfigUnavailable, {}};
    // Named nodes come first; more may be added if more were asked for.
    if (!named.empty() && found.nodes.size() < std::max(demand.nodes_min, demand.nodes_max)) {
        for (const NodeShare& share : all) {
            const std::string& name = node_name(cluster, share);
            if (!is_listed(named, name) && !is_listed(excluded, name))
                found.nodes.push_back(&share);
        }
    }
    return found;
}

}  // namespace sluice
