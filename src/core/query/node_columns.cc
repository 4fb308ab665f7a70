// core/query/node_columns.cc: the columns of nodes, partitions and steps.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "core/query/columns_of.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

using View = const Snapshot&;
using Scratch = std::string&;

std::string_view partitions_of_node(const Node& node, View view, Scratch scratch) {
    scratch.clear();
    for (const Partition& partition : *view.partitions) {
        if (std::find(partition.nodes.begin(), partition.nodes.end(), node.index) ==
            partition.nodes.end())
            continue;
        if (!scratch.empty()) scratch += ',';
        scratch += partition.config.name;
    }
    return scratch;
}

// Calls visit(name, pool) for the pools of the node in the order of GresTypes; a name that the node
// has none of has no pool.
template <typename Visit>
void in_order_of_types(const Node& node, View view, Visit visit) {
    std::vector<std::string> names = view.settings->gres_types;
    for (const GresPool& pool : node.gres) {
        if (std::find(names.begin(), names.end(), pool.name) == names.end())
            names.push_back(pool.name);
    }
    for (const std::string& name : names) {
        bool found = false;
        for (const GresPool& pool : node.gres) {
            if (pool.name != name) continue;
            visit(name, &pool);
            found = true;
        }
        if (!found) visit(name, nullptr);
    }
}

std::string pool_text(const GresPool& pool, std::uint64_t count) {
    return fmt::format("{}{}{}:{}", pool.name, pool.type.empty() ? "" : ":", pool.type,
                       print_gres_count(count));
}

// "(S:0-1)": the sockets whose cores its devices are close to.
std::string sockets_text(const Node& node, const GresPool& pool) {
    std::set<std::uint32_t> sockets;
    for (const std::vector<std::uint32_t>& cores : pool.cores) {
        for (std::uint32_t core : cores)
            sockets.insert(core / std::max(1u, node.config.cores_per_socket));
    }
    if (sockets.empty()) return {};
    return fmt::format("(S:{})", print_indexes({sockets.begin(), sockets.end()}));
}

// Compat: as written until the node has devices with cores or parts; no_consume is not shown.
std::string_view gres_configured(const Node& node, View view, Scratch scratch) {
    scratch.clear();
    in_order_of_types(node, view, [&](const std::string&, const GresPool* pool) {
        if (!pool) return;
        if (!scratch.empty()) scratch += ',';
        scratch += pool_text(*pool, pool->count) + sockets_text(node, *pool);
    });
    return scratch;
}

// Compat: lists also the names of GresTypes that the node has none of.
std::string_view gres_used(const Node& node, View view, Scratch scratch) {
    scratch.clear();
    in_order_of_types(node, view, [&](const std::string& name, const GresPool* pool) {
        if (!scratch.empty()) scratch += ',';
        if (!pool) {
            scratch += name + ":0";
            return;
        }
        scratch += pool_text(*pool, pool->used_count);
        std::vector<std::string> parts;
        for (const GresPool::Part& part : pool->parts)
            parts.push_back(fmt::format("{}/{}", part.used, part.count));
        if (!parts.empty()) scratch += fmt::format("({})", join(parts, ","));
        if (!pool->has_devices) return;
        std::vector<std::uint32_t> indexes;
        for (std::uint32_t slot = 0; slot < pool->used.size(); ++slot) {
            if (pool->used[slot]) indexes.push_back(pool->first_index + slot);
        }
        scratch += fmt::format("(IDX:{})", indexes.empty() ? "N/A" : print_indexes(indexes));
    });
    return scratch;
}

// The reservation that has the node now; maintenance comes first.
const Reservation* reservation_of(const Node& node, View view) {
    const Reservation* found = nullptr;
    for (const Reservation& each : *view.reservations) {
        if (!each.is_active(view.time) || !each.has_node(node.index)) continue;
        if (!found || (each.has(kResvMaint) && !found->has(kResvMaint))) found = &each;
    }
    return found;
}

std::int64_t reserved_flags(const Node& node, View view) {
    const Reservation* reservation = reservation_of(node, view);
    if (!reservation) return 0;
    return reservation->has(kResvMaint) ? kNodeMaint : kNodeReserved;
}

std::string_view reservation_name(const Node& node, View view, Scratch) {
    const Reservation* reservation = reservation_of(node, view);
    return reservation ? std::string_view(reservation->name) : "";
}

Tres alloc_tres(const Node& node) {
    Tres tres;
    if (node.cpus_used > 0) tres["cpu"] = node.cpus_used;
    if (node.memory_used > 0) tres["mem"] = node.memory_used;
    for (const GresPool& pool : node.gres) {
        if (pool.used_count == 0) continue;
        tres["gres/" + pool.name] += pool.used_count;
        if (!pool.type.empty()) tres["gres/" + pool.name + ":" + pool.type] += pool.used_count;
    }
    return tres;
}

std::string_view gres_drained(const Node& node, View, Scratch scratch) {
    if (node.drained_gpus.empty()) return {};
    std::vector<std::uint32_t> gpus;
    for (const DrainedGpu& gpu : node.drained_gpus) gpus.push_back(gpu.gpu);
    return scratch = "gpu:" + print_indexes(gpus);
}

std::string_view gres_drain_reason(const Node& node, View, Scratch scratch) {
    scratch.clear();
    for (const DrainedGpu& gpu : node.drained_gpus) {
        scratch += fmt::format("{}gpu:{}: {}", scratch.empty() ? "" : "; ", gpu.gpu, gpu.reason);
    }
    return scratch;
}

template <std::string NodeConfig::*Member>
std::string_view configured(const Node& node, View, Scratch) {
    return node.config.*Member;
}
template <std::string NodeFacts::*Member>
std::string_view reported(const Node& node, View, Scratch) {
    return node.facts ? std::string_view((*node.facts).*Member) : std::string_view();
}

// clang-format off
const std::vector<ColumnSource<Node>> kNodeColumns = {
    {NodeColumn::Name,            configured<&NodeConfig::name>},
    {NodeColumn::Hostname,        [](const Node& n, View, Scratch) -> std::string_view { return hostname_of(n); }},
    {NodeColumn::Address,         [](const Node& n, View, Scratch) -> std::string_view { return address_of(n); }},
    {NodeColumn::Port,            [](const Node& n, View) -> std::int64_t { return n.config.port; }},
    {NodeColumn::Arch,            reported<&NodeFacts::arch>},
    {NodeColumn::Os,              reported<&NodeFacts::os>},
    {NodeColumn::Version,         reported<&NodeFacts::version>},
    {NodeColumn::BaseState,       [](const Node& n, View) { return static_cast<std::int64_t>(node_base(n)); }},
    {NodeColumn::Flags,           [](const Node& n, View v) -> std::int64_t {
         return node_flags(n) | reserved_flags(n, v) | (v.plan && v.plan->is_planned(n.index) ? +kNodePlanned : 0u); }},
    {NodeColumn::Cpus,            [](const Node& n, View) -> std::int64_t { return n.config.cpus; }},
    {NodeColumn::AllocCpus,       [](const Node& n, View) -> std::int64_t { return n.cpus_used; }},
    {NodeColumn::Boards,          [](const Node& n, View) -> std::int64_t { return n.config.boards; }},
    {NodeColumn::Sockets,         [](const Node& n, View) -> std::int64_t { return n.config.sockets; }},
    {NodeColumn::CoresPerSocket,  [](const Node& n, View) -> std::int64_t { return n.config.cores_per_socket; }},
    {NodeColumn::ThreadsPerCore,  [](const Node& n, View) -> std::int64_t { return n.config.threads_per_core; }},
    {NodeColumn::RealMemory,      [](const Node& n, View) -> std::int64_t { return static_cast<std::int64_t>(n.config.real_memory); }},
    {NodeColumn::AllocMemory,     [](const Node& n, View) -> std::int64_t { return static_cast<std::int64_t>(n.memory_used); }},
    {NodeColumn::FreeMemory,      [](const Node& n, View) { return n.facts ? static_cast<std::int64_t>(n.facts->free_memory) : kAbsent; }},
    {NodeColumn::TmpDisk,         [](const Node& n, View) -> std::int64_t { return static_cast<std::int64_t>(n.config.tmp_disk); }},
    {NodeColumn::Weight,          [](const Node& n, View) -> std::int64_t { return n.config.weight; }},
    {NodeColumn::Load,            [](const Node& n, View) { return n.facts ? static_cast<std::int64_t>(n.facts->load * 100 + 0.5) : kAbsent; }},
    {NodeColumn::Features,        [](const Node& n, View, Scratch s) -> std::string_view { return s = join(n.config.features, ","); }},
    {NodeColumn::Gres,            gres_configured},
    {NodeColumn::GresUsed,        gres_used},
    {NodeColumn::Partitions,      partitions_of_node},
    {NodeColumn::BootTime,        [](const Node& n, View) { return n.facts ? to_unix(n.facts->boot_time) : kAbsent; }},
    {NodeColumn::SlurmdStartTime, [](const Node& n, View) { return n.facts ? to_unix(n.facts->slurmd_start_time) : kAbsent; }},
    {NodeColumn::LastBusyTime,    [](const Node& n, View) { return unix_or_absent(n.last_busy); }},
    {NodeColumn::Reason,          [](const Node& n, View v, Scratch s) -> std::string_view { return n.reason.empty() ? gres_drain_reason(n, v, s) : n.reason; }},
    {NodeColumn::ReasonTime,      [](const Node& n, View) { return n.reason.empty() && !n.drained_gpus.empty() ? to_unix(n.drained_gpus.front().since) : unix_or_absent(n.reason_time); }},
    {NodeColumn::ReasonUser,      [](const Node& n, View) -> std::int64_t { return n.reason_user.value; }},
    {NodeColumn::CfgTres,         [](const Node& n, View, Scratch s) -> std::string_view { return s = print_tres(cfg_tres(n)); }},
    {NodeColumn::AllocTres,       [](const Node& n, View, Scratch s) -> std::string_view { return s = print_tres(alloc_tres(n)); }},
    {NodeColumn::Comment,         [](const Node& n, View, Scratch) -> std::string_view { return n.comment; }},
    {NodeColumn::FreeScratch,     [](const Node& n, View) { return n.facts ? static_cast<std::int64_t>(n.facts->free_scratch) : kAbsent; }},
    {NodeColumn::ResumeAfter,     [](const Node& n, View) { return unix_or_absent(n.resume_after); }},
    {NodeColumn::SuspendTime,     [](const Node& n, View v) { return seconds_of(suspend_time_of(n, *v.partitions, *v.settings)); }},
    {NodeColumn::CoreSpecCount,   [](const Node& n, View) -> std::int64_t { return n.config.core_spec_count; }},
    {NodeColumn::MemSpecLimit,    [](const Node& n, View) -> std::int64_t { return static_cast<std::int64_t>(n.config.mem_spec_limit); }},
    {NodeColumn::Reservation,     reservation_name},
    {NodeColumn::GresDrained,     gres_drained},
    {NodeColumn::GresDrainReason, gres_drain_reason},
    {NodeColumn::NextState,       [](const Node& n, View) { return n.reboot && n.reboot->next != AfterReboot::AsBefore ? static_cast<std::int64_t>(n.reboot->next) : kAbsent; }},
};
// clang-format on

std::string_view list_or_all(const std::vector<std::string>& list, Scratch scratch) {
    return scratch = list.empty() ? "ALL" : join(list, ",");
}

std::string_view node_names(const Partition& partition, View view, Scratch scratch) {
    std::vector<std::string> names;
    for (NodeIndex index : partition.nodes)
        names.push_back(view.nodes.find(index.value)->config.name);
    return scratch = Hostlist(std::move(names)).sorted().to_string();
}

std::string_view alloc_nodes(const Partition& partition, View, Scratch scratch) {
    const std::vector<std::string>& hosts = partition.config.allow_alloc_nodes;
    return scratch = hosts.empty() ? "ALL" : Hostlist(hosts).to_string();
}

// The partition's mode, or the cluster's.
std::string_view preempt_mode(const Partition& partition, View view, Scratch scratch) {
    const PreemptSettings& cluster = view.settings->preempt;
    const PreemptWords usual{.mode = cluster.mode, .gang = cluster.gang};
    return scratch = print(partition.config.preempt_mode.value_or(usual));
}

Tres partition_tres(const Partition& partition, View view) {
    if (partition.nodes.empty()) return {};
    Tres tres{{"cpu", partition.total_cpus}, {"node", partition.nodes.size()}};
    for (NodeIndex index : partition.nodes) {
        for (const auto& [name, count] : cfg_tres(*view.nodes.find(index.value))) {
            if (name != "cpu" && name != "billing") tres[name] += count;
        }
    }
    tres["billing"] =
        billing_of(tres, partition.config.tres_billing_weights, view.settings->priority.billing);
    return tres;
}

template <std::string PartitionConfig::*Member>
std::string_view setting(const Partition& partition, View, Scratch) {
    return partition.config.*Member;
}
template <std::vector<std::string> PartitionConfig::*Member>
std::string_view allowed(const Partition& partition, View, Scratch scratch) {
    return list_or_all(partition.config.*Member, scratch);
}
template <std::vector<std::string> PartitionConfig::*Member>
std::string_view denied(const Partition& partition, View, Scratch scratch) {
    return scratch = join(partition.config.*Member, ",");
}
template <bool PartitionConfig::*Member>
std::int64_t flag(const Partition& partition, View) {
    return partition.config.*Member;
}
template <std::uint32_t PartitionConfig::*Member>
std::int64_t number(const Partition& partition, View) {
    return partition.config.*Member;
}
template <std::optional<std::uint32_t> PartitionConfig::*Member>
std::int64_t limit(const Partition& partition, View) {
    return or_unlimited(partition.config.*Member);
}
template <std::optional<Megabytes> PartitionConfig::*Member>
std::int64_t memory(const Partition& partition, View) {
    return or_absent(partition.config.*Member);
}

// clang-format off
const std::vector<ColumnSource<Partition>> kPartitionColumns = {
    {PartitionColumn::Name,              setting<&PartitionConfig::name>},
    {PartitionColumn::IsDefault,         flag<&PartitionConfig::is_default>},
    {PartitionColumn::State,             [](const Partition& p, View, Scratch) { return print(p.config.state); }},
    {PartitionColumn::Nodes,             node_names},
    {PartitionColumn::NodeSets,          setting<&PartitionConfig::nodes_text>},
    {PartitionColumn::TotalNodes,        [](const Partition& p, View) { return static_cast<std::int64_t>(p.nodes.size()); }},
    {PartitionColumn::TotalCpus,         [](const Partition& p, View) -> std::int64_t { return p.total_cpus; }},
    {PartitionColumn::MaxTime,           [](const Partition& p, View) { return seconds_of(p.config.max_time); }},
    {PartitionColumn::DefaultTime,       [](const Partition& p, View) { return p.config.default_time ? seconds_of(*p.config.default_time) : kAbsent; }},
    {PartitionColumn::MinNodes,          number<&PartitionConfig::min_nodes>},
    {PartitionColumn::MaxNodes,          limit<&PartitionConfig::max_nodes>},
    {PartitionColumn::MaxCpusPerNode,    limit<&PartitionConfig::max_cpus_per_node>},
    {PartitionColumn::MaxCpusPerSocket,  limit<&PartitionConfig::max_cpus_per_socket>},
    {PartitionColumn::DefMemPerCpu,      memory<&PartitionConfig::def_mem_per_cpu>},
    {PartitionColumn::DefMemPerNode,     memory<&PartitionConfig::def_mem_per_node>},
    {PartitionColumn::MaxMemPerCpu,      memory<&PartitionConfig::max_mem_per_cpu>},
    {PartitionColumn::MaxMemPerNode,     memory<&PartitionConfig::max_mem_per_node>},
    {PartitionColumn::Hidden,            flag<&PartitionConfig::hidden>},
    {PartitionColumn::RootOnly,          flag<&PartitionConfig::root_only>},
    {PartitionColumn::ReqResv,           flag<&PartitionConfig::req_resv>},
    {PartitionColumn::DisableRootJobs,   flag<&PartitionConfig::disable_root_jobs>},
    {PartitionColumn::Lln,               flag<&PartitionConfig::lln>},
    {PartitionColumn::AllowGroups,       allowed<&PartitionConfig::allow_groups>},
    {PartitionColumn::AllowAccounts,     allowed<&PartitionConfig::allow_accounts>},
    {PartitionColumn::DenyAccounts,      denied<&PartitionConfig::deny_accounts>},
    {PartitionColumn::AllowQos,          allowed<&PartitionConfig::allow_qos>},
    {PartitionColumn::DenyQos,           denied<&PartitionConfig::deny_qos>},
    {PartitionColumn::AllocNodes,        alloc_nodes},
    {PartitionColumn::Alternate,         setting<&PartitionConfig::alternate>},
    {PartitionColumn::Qos,               setting<&PartitionConfig::qos>},
    {PartitionColumn::OverSubscribe,     [](const Partition& p, View, Scratch s) -> std::string_view { return s = print(p.config.oversubscribe); }},
    {PartitionColumn::Exclusive,         [](const Partition& p, View, Scratch) { return print(p.config.exclusive); }},
    {PartitionColumn::PreemptMode,       preempt_mode},
    {PartitionColumn::GraceTime,         [](const Partition& p, View) -> std::int64_t { return p.config.grace_time.count(); }},
    {PartitionColumn::PriorityJobFactor, number<&PartitionConfig::priority_job_factor>},
    {PartitionColumn::PriorityTier,      number<&PartitionConfig::priority_tier>},
    {PartitionColumn::OverTimeLimit,     [](const Partition& p, View) { return p.config.over_time_limit == 0xffffffff ? kUnlimited : std::int64_t{p.config.over_time_limit}; }},
    {PartitionColumn::JobDefaults,       [](const Partition& p, View, Scratch s) -> std::string_view { return s = print_job_defaults(p.config); }},
    {PartitionColumn::Tres,              [](const Partition& p, View v, Scratch s) -> std::string_view { return s = print_tres(partition_tres(p, v)); }},
    {PartitionColumn::TresBillingWeights, setting<&PartitionConfig::tres_billing_weights>},
    {PartitionColumn::ResumeTimeout,     [](const Partition& p, View) { return p.config.resume_timeout ? p.config.resume_timeout->count() : kAbsent; }},
    {PartitionColumn::SuspendTimeout,    [](const Partition& p, View) { return p.config.suspend_timeout ? p.config.suspend_timeout->count() : kAbsent; }},
    {PartitionColumn::SuspendTime,       [](const Partition& p, View) { return p.config.suspend_time ? seconds_of(*p.config.suspend_time) : kAbsent; }},
    {PartitionColumn::PowerDownOnIdle,   flag<&PartitionConfig::power_down_on_idle>},
    {PartitionColumn::GpuPolicy,         [](const Partition& p, View, Scratch s) -> std::string_view { return s = print_gpu_policy(p.config); }},
};

std::int64_t step_cpus(const StepRow& r, View) {
    if (!r.step) return r.job->run.allocation ? static_cast<std::int64_t>(r.job->run.allocation->nodes.front().cpus.size()) : 0;
    std::int64_t sum = 0;
    for (const NodeShare& share : r.step->nodes) sum += static_cast<std::int64_t>(share.cpus.size());
    return sum;
}

Tres step_tres(const StepRow& r) {
    Allocation held;
    if (r.step) held.nodes = r.step->nodes;
    else if (r.job->run.allocation) held.nodes = {r.job->run.allocation->nodes.front()};
    Tres tres = tres_of(held);
    tres.erase("billing");
    return tres;
}

const std::vector<ColumnSource<StepRow>> kStepColumns = {
    {StepColumn::JobId,       [](const StepRow& r, View) -> std::int64_t { return r.job->id.value; }},
    {StepColumn::ArrayJobId,  [](const StepRow& r, View) { return r.job->array_job ? std::int64_t{r.job->array_job->value} : kAbsent; }},
    {StepColumn::ArrayTaskId, [](const StepRow& r, View) { return or_absent(r.job->array_task); }},
    {StepColumn::StepId,      [](const StepRow& r, View) -> std::int64_t { return r.step ? r.step->id.value : kBatchStep.value; }},
    {StepColumn::Name,        [](const StepRow& r, View, Scratch) -> std::string_view { return r.step ? std::string_view(r.step->name) : "batch"; }},
    {StepColumn::UserId,      [](const StepRow& r, View) -> std::int64_t { return r.job->user.value; }},
    {StepColumn::Partition,   [](const StepRow& r, View, Scratch) -> std::string_view { return r.job->partition; }},
    {StepColumn::State,       [](const StepRow& r, View) { return static_cast<std::int64_t>(r.step ? r.step->state : StepState::Running); }},
    {StepColumn::StartTime,   [](const StepRow& r, View) { return r.step ? to_unix(r.step->start_time) : unix_or_absent(r.job->run.start_time); }},
    {StepColumn::TimeLimit,   [](const StepRow& r, View) { return r.step ? seconds_of(r.step->time_limit) : kUnlimited; }},
    {StepColumn::NodeList,    [](const StepRow& r, View v, Scratch s) -> std::string_view {
        if (r.step) return r.step->node_names;
        return s = r.job->run.allocation ? v.nodes.find(r.job->run.allocation->nodes.front().node.value)->config.name : ""; }},
    {StepColumn::NodeCount,   [](const StepRow& r, View) -> std::int64_t { return r.step ? static_cast<std::int64_t>(r.step->nodes.size()) : 1; }},
    {StepColumn::TaskCount,   [](const StepRow& r, View) -> std::int64_t { return r.step ? r.step->tasks : 1; }},
    {StepColumn::CpuCount,    step_cpus},
    {StepColumn::Tres,        [](const StepRow& r, View, Scratch s) -> std::string_view { return s = print_tres(step_tres(r)); }},
    {StepColumn::TresPerNode, [](const StepRow& r, View, Scratch) -> std::string_view { return r.step ? std::string_view(r.step->tres_per_node) : ""; }},
    {StepColumn::SubmitHost,  [](const StepRow& r, View, Scratch) -> std::string_view { return r.job->request->submit_host; }},
    {StepColumn::ExitCode,    [](const StepRow& r, View) -> std::int64_t { return r.step ? r.step->exit.code * 256 + r.step->exit.signal : 0; }},
    {StepColumn::Distribution, [](const StepRow& r, View, Scratch) -> std::string_view { return r.step ? std::string_view(r.step->distribution) : ""; }},
    {StepColumn::TresBind,    [](const StepRow& r, View, Scratch) -> std::string_view { return r.step ? std::string_view(r.step->tres_bind) : ""; }},
    {StepColumn::Container,   [](const StepRow& r, View, Scratch) -> std::string_view { return r.step ? std::string_view(r.step->container) : r.job->details->text(&JobDetails::container); }},
};
// clang-format on

}  // namespace

const std::vector<ColumnSource<Node>>& node_columns() {
    return kNodeColumns;
}
const std::vector<ColumnSource<Partition>>& partition_columns() {
    return kPartitionColumns;
}
const std::vector<ColumnSource<StepRow>>& step_columns() {
    return kStepColumns;
}

}  // namespace sluice
