// core/node/update_partition.cc: scontrol update PartitionName=. It lasts until slurm.conf is read again.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/node/verbs.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/quantity.h"
#include "model/times.h"

namespace sluice {

namespace {

using P = PartitionConfig;
// The text is what would be right, empty: it is.
using Setter = std::string_view (*)(P& config, const std::string& value);

bool is_unlimited(const std::string& value) {
    return equals_ignoring_case(value, "UNLIMITED") || equals_ignoring_case(value, "INFINITE");
}

template <auto Member>
std::string_view number(P& config, const std::string& value) {
    std::optional<std::uint64_t> parsed = to_number(value);
    if (!parsed || *parsed > 0xfffffffe) return "a number";
    config.*Member = static_cast<std::uint32_t>(*parsed);
    return {};
}

template <auto Member>
std::string_view number_or_max(P& config, const std::string& value) {
    if (!is_unlimited(value)) return number<Member>(config, value).empty() ? "" : "a number or UNLIMITED";
    (config.*Member).reset();
    return {};
}

template <auto Member>
std::string_view yes_no(P& config, const std::string& value) {
    bool yes = equals_ignoring_case(value, "YES");
    if (!yes && !equals_ignoring_case(value, "NO")) return "YES or NO";
    config.*Member = yes;
    return {};
}

template <auto Member>
std::string_view time(P& config, const std::string& value) {
    Result<TimeLimit> limit = parse_job_time_limit(value);
    if (!limit) return "a time";
    config.*Member = *limit;
    return {};
}

// ALL and nothing at all mean everybody.
template <auto Member>
std::string_view list(P& config, const std::string& value) {
    (config.*Member).clear();
    if (equals_ignoring_case(value, "ALL")) return {};
    for (std::string_view name : split(value, ',')) {
        if (!trim(name).empty()) (config.*Member).emplace_back(trim(name));
    }
    return {};
}

// Of the two that belong together only one is said at a time.
template <auto Member, auto Other>
std::string_view memory(P& config, const std::string& value) {
    Result<Megabytes> size = is_unlimited(value) ? Result<Megabytes>(0) : parse_memory(value);
    if (!size) return "a size such as 4G";
    (config.*Other).reset();
    (config.*Member).reset();
    if (*size > 0) config.*Member = *size;
    return {};
}

std::string_view set_state(P& config, const std::string& value) {
    for (std::string_view state : {"UP", "DOWN", "DRAIN", "INACTIVE"}) {
        if (!equals_ignoring_case(state, value)) continue;
        config.state = state;
        return {};
    }
    return "UP, DOWN, DRAIN or INACTIVE";
}

std::string_view set_grace_time(P& config, const std::string& value) {
    std::optional<std::uint64_t> seconds = to_number(value);
    if (!seconds || *seconds > 0xffffffff) return "a number of seconds";
    config.grace_time = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

std::string_view set_nodes(P& config, const std::string& value) {
    Result<Hostlist> hosts = Hostlist::parse(value);
    if (!hosts || hosts->names().empty()) return "a list of nodes";
    config.nodes = hosts->names();
    config.nodes_text = value;
    config.node_sets.clear();
    return {};
}

struct Row {
    std::string_view key;
    Setter set;
};

constexpr Row kRows[] = {
    {"AllowAccounts", list<&P::allow_accounts>},
    {"AllowQos", list<&P::allow_qos>},
    {"Default", yes_no<&P::is_default>},
    {"DefaultTime", time<&P::default_time>},
    {"DefMemPerCPU", memory<&P::def_mem_per_cpu, &P::def_mem_per_node>},
    {"DefMemPerNode", memory<&P::def_mem_per_node, &P::def_mem_per_cpu>},
    {"DenyAccounts", list<&P::deny_accounts>},
    {"DenyQos", list<&P::deny_qos>},
    {"DisableRootJobs", yes_no<&P::disable_root_jobs>},
    {"GraceTime", set_grace_time},
    {"Hidden", yes_no<&P::hidden>},
    {"LLN", yes_no<&P::lln>},
    {"MaxCPUsPerNode", number_or_max<&P::max_cpus_per_node>},
    {"MaxCPUsPerSocket", number_or_max<&P::max_cpus_per_socket>},
    {"MaxMemPerCPU", memory<&P::max_mem_per_cpu, &P::max_mem_per_node>},
    {"MaxMemPerNode", memory<&P::max_mem_per_node, &P::max_mem_per_cpu>},
    {"MaxNodes", number_or_max<&P::max_nodes>},
    {"MaxTime", time<&P::max_time>},
    {"MinNodes", number<&P::min_nodes>},
    {"Nodes", set_nodes},
    {"PriorityJobFactor", number<&P::priority_job_factor>},
    {"PriorityTier", number<&P::priority_tier>},
    {"ReqResv", yes_no<&P::req_resv>},
    {"RootOnly", yes_no<&P::root_only>},
    {"State", set_state},
};

Result<void> change(P& config, const std::string& key, const std::string& value) {
    for (const Row& row : kRows) {
        if (!equals_ignoring_case(row.key, key)) continue;
        std::string_view right = row.set(config, value);
        if (right.empty()) return {};
        return Error{ErrorCode::BadArgument, fmt::format("{}={}: {} is needed", key, value, right)};
    }
    return Error{ErrorCode::NotSupported, fmt::format("update of partition field {}", key)};
}

Result<P> changed_config(const Cluster& cluster, const Partition& partition, const UpdatePartition& event) {
    P changed = partition.config;
    for (const auto& [key, value] : event.changes) TRY(change(changed, key, value));
    if (changed.nodes == partition.config.nodes) return changed;
    std::vector<NodeIndex> nodes = TRY(nodes_named(cluster, changed.nodes));
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    changed.nodes.clear();
    for (NodeIndex node : nodes) changed.nodes.push_back(cluster.node(node).config.name);
    return changed;
}

}  // namespace

void on_update_partition(Cluster& cluster, Time now, const UpdatePartition& event, Effects& effects) {
    auto answer = [&](Answer what) { effects.push_back(Reply{event.request, std::move(what)}); };
    if (!is_privileged(cluster, event.caller)) return answer(Error{ErrorCode::AccessDenied, {}});
    const Partition* partition = cluster.find_partition(event.partition);
    if (!partition) return answer(Error{ErrorCode::InvalidPartition, event.partition});
    Result<P> changed = changed_config(cluster, *partition, event);
    if (!changed) return answer(changed.error());
    for (Partition& entry : cluster.edit_partitions()) {
        if (changed->is_default && entry.config.name != changed->name) entry.config.is_default = false;
        if (entry.config.name == changed->name) entry.config = *changed;
    }
    cluster.nodes_were_reweighted();  // and what jobs need there is worked out anew
    reprioritize_all(cluster, now, true);
    unpark_all(cluster, now);
    cluster.schedule_wanted = true;
    answer(Done{});
}

}  // namespace sluice
