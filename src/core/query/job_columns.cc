// core/query/job_columns.cc: the facts of a job, by column.
#include <algorithm>

#include <fmt/format.h>

#include "core/query/columns_of.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

using View = const Snapshot&;
using Scratch = std::string&;
using C = JobColumn;

const Shape& shape_of(const Job& job) { return job.request->shape; }

const Node& node_of(const Snapshot& snapshot, NodeIndex index) { return *snapshot.nodes.find(index.value); }

// A job that waits its turn has no reason of its own: the first one that found no place waits for
// resources, those behind it for their priority.
std::int64_t reason_of(const Job& job, View view) {
    if (job.state != JobState::Pending || job.reason != Reason::None || job.priority == 0) {
        return static_cast<std::int64_t>(job.reason);
    }
    bool evaluated = false;
    for (const std::string& name : partitions_of(job)) {
        for (const Partition& partition : *view.partitions) {
            if (partition.config.name != name || !partition.first_blocked) continue;
            if (*partition.first_blocked == job.id) return static_cast<std::int64_t>(Reason::Resources);
            evaluated = true;
        }
    }
    return static_cast<std::int64_t>(evaluated ? Reason::Priority : Reason::None);
}

std::int64_t end_of(const Job& job, View) {
    if (job.end_time) return to_unix(*job.end_time);
    if (!job.start_time || job.time_limit.unlimited()) return kAbsent;
    return to_unix(*job.start_time + job.time_limit.length());
}

std::int64_t exit_of(const ExitStatus& exit) { return exit.code * 256 + exit.signal; }

std::int64_t node_count(const Job& job, View view) {
    if (job.allocation) return static_cast<std::int64_t>(job.allocation->nodes.size());
    return static_cast<std::int64_t>(tres_wanted(job, view)["node"]);
}

std::int64_t cpu_count(const Job& job, View view) {
    if (job.allocation) return job.allocation->cpus();
    return static_cast<std::int64_t>(tres_wanted(job, view)["cpu"]);
}

std::int64_t task_count(const Job& job, View) {
    const Shape& shape = shape_of(job);
    if (shape.ntasks) return *shape.ntasks;
    std::uint32_t nodes = std::max(1u, shape.nodes_min);
    if (job.allocation) nodes = static_cast<std::uint32_t>(job.allocation->nodes.size());
    return std::int64_t{nodes} * std::max(1u, shape.ntasks_per_node.value_or(1));
}

std::optional<Megabytes> default_memory(const Job& job, View view, bool per_cpu) {
    const Shape& shape = shape_of(job);
    if (shape.mem_per_cpu || shape.mem_per_node) return per_cpu ? shape.mem_per_cpu : shape.mem_per_node;
    std::vector<std::string> names = partitions_of(job);
    for (const Partition& partition : *view.partitions) {
        if (names.empty() || partition.config.name != names.front()) continue;
        const PartitionConfig& config = partition.config;
        if (config.def_mem_per_cpu || config.def_mem_per_node) {
            return per_cpu ? config.def_mem_per_cpu : config.def_mem_per_node;
        }
    }
    if (view.settings->def_mem_per_cpu) return per_cpu ? view.settings->def_mem_per_cpu : std::nullopt;
    return per_cpu ? std::nullopt : view.settings->def_mem_per_node;
}

std::int64_t min_cpus_node(const Job& job, View) {
    const Shape& shape = shape_of(job);
    return std::max(shape.cpus_min_per_node.value_or(1), shape.cpus_per_task * shape.ntasks_per_node.value_or(1));
}

std::string_view batch_host(const Job& job, View view, Scratch) {
    if (!job.allocation) return {};
    return node_of(view, job.allocation->nodes.front().node).config.name;
}

std::string_view completing_nodes(const Job& job, View view, Scratch scratch) {
    std::vector<std::string> names;
    for (NodeIndex index : job.completing_nodes) names.push_back(node_of(view, index).config.name);
    return scratch = Hostlist(std::move(names)).to_string();
}

std::string_view tres_per_task(const Job& job, View, Scratch scratch) {
    const Shape& shape = shape_of(job);
    scratch = shape.cpus_per_task_set ? fmt::format("cpu={}", shape.cpus_per_task) : "";
    for (const GresCount& wish : shape.gpus_per_task) {
        if (!scratch.empty()) scratch += ',';
        scratch += fmt::format("gres/{}{}{}={}", wish.name, wish.type.empty() ? "" : ":", wish.type, wish.count);
    }
    return scratch;
}

std::string_view alloc_detail(const Job& job, View view, Scratch scratch) {
    scratch.clear();
    if (!job.allocation) return scratch;
    for (const NodeShare& share : job.allocation->nodes) {
        std::string gres;
        for (const NodeShare::Devices& devices : share.gres) {
            if (!gres.empty()) gres += ',';
            gres += fmt::format("{}{}{}:{}", devices.name, devices.type.empty() ? "" : ":", devices.type, devices.count);
            if (!devices.indexes.empty()) gres += fmt::format("(IDX:{})", print_indexes(devices.indexes));
        }
        scratch += fmt::format("Nodes={} CPU_IDs={} Mem={} GRES={}\n", node_of(view, share.node).config.name,
                               print_indexes(share.cpus), share.memory, gres);
    }
    scratch.pop_back();
    return scratch;
}

std::string_view std_out(const Job& job, View, Scratch) {
    if (job.request->kind != JobKind::Batch) return {};
    if (!job.request->std_out.empty()) return job.request->std_out;
    return job.array_job ? "slurm-%A_%a.out" : "slurm-%j.out";
}

// Compat: jobs that are held or wait for their begin time are not listed with their factors, except
// that with ACCRUE_ALWAYS the latter are.
std::string_view priority_factors(const Job& job, View view, Scratch scratch) {
    scratch.clear();
    const PriorityScale& scale = *view.priority_scale;
    if (job.state != JobState::Pending || job.priority == 0 || !scale.weights().multifactor) return scratch;
    if (job.eligible_time > view.time && !scale.accrue_always) return scratch;
    for (std::string& name : partitions_of(job)) {
        PriorityLine line{.partition = std::move(name), .total = static_cast<double>(job.priority),
                          .by_hand = job.priority_by_hand, .factors = {}};
        if (is_calculated(job)) {
            line.factors = factors_of(scale, job, line.partition);
            line.total = line.factors.total();
        }
        append_priority_line(line, scratch);
    }
    return scratch;
}

template <std::string JobRequest::*Member>
std::string_view wish(const Job& job, View, Scratch) { return (*job.request).*Member; }

// clang-format off
const std::vector<ColumnSource<Job>> kColumns = {
    {C::Id,               [](const Job& j, View) -> std::int64_t { return j.id.value; }},
    {C::ArrayJobId,       [](const Job& j, View) { return j.array_job ? std::int64_t{j.array_job->value} : kAbsent; }},
    {C::ArrayTaskId,      [](const Job& j, View) { return or_absent(j.array_task); }},
    {C::ArrayTasks,       [](const Job& j, View, Scratch s) -> std::string_view { return s = j.array_tasks.to_string(); }},
    {C::ArrayLimit,       [](const Job& j, View) -> std::int64_t { return j.array_limit; }},
    {C::Name,             wish<&JobRequest::name>},
    {C::UserId,           [](const Job& j, View) -> std::int64_t { return j.user.value; }},
    {C::GroupId,          [](const Job& j, View) -> std::int64_t { return j.group.value; }},
    {C::Account,          wish<&JobRequest::account>},
    {C::Qos,              wish<&JobRequest::qos>},
    {C::Partition,        [](const Job& j, View, Scratch) -> std::string_view { return j.partition; }},
    {C::State,            [](const Job& j, View) { return static_cast<std::int64_t>(shown_state(j)); }},
    {C::BaseState,        [](const Job& j, View) { return static_cast<std::int64_t>(j.state); }},
    {C::Reason, reason_of},
    {C::ReasonDetail,     [](const Job& j, View, Scratch) -> std::string_view { return j.reason_detail; }},
    {C::Priority,         [](const Job& j, View) -> std::int64_t { return j.priority; }},
    {C::Nice,             [](const Job& j, View) -> std::int64_t { return j.request->nice; }},
    {C::Requeue,          [](const Job& j, View) -> std::int64_t { return j.request->requeue; }},
    {C::Restarts,         [](const Job& j, View) -> std::int64_t { return j.restarts; }},
    {C::Batch,            [](const Job& j, View) -> std::int64_t { return j.request->kind == JobKind::Batch; }},
    {C::ExitCode,         [](const Job& j, View) { return exit_of(j.exit); }},
    {C::DerivedExitCode,  [](const Job& j, View) { return exit_of(j.derived_exit); }},
    {C::SubmitTime,       [](const Job& j, View) { return to_unix(j.submit_time); }},
    {C::EligibleTime,     [](const Job& j, View) { return j.priority == 0 && j.state == JobState::Pending ? kAbsent : to_unix(j.eligible_time); }},
    {C::StartTime,        [](const Job& j, View) { return j.start_time ? to_unix(*j.start_time)
                                                   : j.reason == Reason::BeginTime ? to_unix(j.eligible_time) : kAbsent; }},
    {C::EndTime,          end_of},
    {C::Deadline,         [](const Job& j, View) { return unix_or_absent(j.request->deadline); }},
    {C::TimeLimit, [](const Job& j, View) { return seconds_of(j.time_limit); }},
    {C::TimeMin,          [](const Job& j, View) { return j.request->time_min ? seconds_of(*j.request->time_min) : kAbsent; }},
    {C::LastSchedEval,    [](const Job& j, View) { return unix_or_absent(j.last_sched_eval); }},
    {C::SuspendedSeconds, [](const Job& j, View) -> std::int64_t { return j.suspended.count(); }},
    {C::AllocNode,        wish<&JobRequest::submit_host>},
    {C::AllocSid,         [](const Job& j, View) -> std::int64_t { return j.request->submit_sid; }},
    {C::ReqNodes,         [](const Job& j, View, Scratch) -> std::string_view { return shape_of(j).nodelist; }},
    {C::ExcNodes,         [](const Job& j, View, Scratch) -> std::string_view { return shape_of(j).exclude; }},
    {C::NodeList,         [](const Job& j, View, Scratch) -> std::string_view { return j.allocation ? std::string_view(j.allocation->node_names) : ""; }},
    {C::CompletingNodes,  completing_nodes},
    {C::BatchHost,        batch_host},
    {C::NodeCount,        node_count},
    {C::NodeCountMax,     [](const Job& j, View) { return or_absent(shape_of(j).nodes_max); }},
    {C::CpuCount,         cpu_count},
    {C::TaskCount,        task_count},
    {C::TaskCountSet,     [](const Job& j, View) -> std::int64_t { return shape_of(j).ntasks.has_value(); }},
    {C::CpusPerTask,      [](const Job& j, View) { return shape_of(j).cpus_per_task_set ? std::int64_t{shape_of(j).cpus_per_task} : kAbsent; }},
    {C::NtasksPerNode,    [](const Job& j, View) { return or_absent(shape_of(j).ntasks_per_node); }},
    {C::MinCpusNode,      min_cpus_node},
    {C::MemPerNode,       [](const Job& j, View v) { return or_absent(default_memory(j, v, false)); }},
    {C::MemPerCpu,        [](const Job& j, View v) { return or_absent(default_memory(j, v, true)); }},
    {C::MinTmpDisk,       [](const Job& j, View) -> std::int64_t { return static_cast<std::int64_t>(shape_of(j).tmp_min.value_or(0)); }},
    {C::ReqTres,          [](const Job& j, View v, Scratch s) -> std::string_view { return s = print_tres(tres_wanted(j, v)); }},
    {C::AllocTres,        [](const Job& j, View, Scratch s) -> std::string_view { return s = j.allocation ? print_tres(tres_of(*j.allocation)) : ""; }},
    {C::TresPerNode,      [](const Job& j, View, Scratch s) -> std::string_view { return s = print_tres_per(shape_of(j).gres_per_node); }},
    {C::TresPerJob,       [](const Job& j, View, Scratch s) -> std::string_view { return s = print_tres_per(shape_of(j).gpus); }},
    {C::TresPerTask,      tres_per_task},
    {C::Features,         [](const Job& j, View, Scratch) -> std::string_view { return shape_of(j).constraint; }},
    {C::OverSubscribe,    [](const Job& j, View) -> std::int64_t { return shape_of(j).oversubscribe; }},
    {C::Exclusive, [](const Job& j, View) { return static_cast<std::int64_t>(shape_of(j).exclusive); }},
    {C::Licenses,         wish<&JobRequest::licenses>},
    {C::Reservation,      wish<&JobRequest::reservation>},
    {C::Dependency,       wish<&JobRequest::dependency>},
    {C::Command,          wish<&JobRequest::command>},
    {C::SubmitLine,       wish<&JobRequest::submit_line>},
    {C::WorkDir,          wish<&JobRequest::work_dir>},
    {C::StdIn,            wish<&JobRequest::std_in>},
    {C::StdOut,           std_out},
    {C::StdErr,           wish<&JobRequest::std_err>},
    {C::Comment,          wish<&JobRequest::comment>},
    {C::AdminComment,     [](const Job& j, View, Scratch) -> std::string_view { return j.admin_comment; }},
    {C::MailUser,         wish<&JobRequest::mail_user>},
    {C::MailType,         wish<&JobRequest::mail_types>},
    {C::Wckey,            wish<&JobRequest::wckey>},
    {C::Sluid,            [](const Job& j, View, Scratch s) -> std::string_view { return s = print_sluid(j.sluid); }},
    {C::KilledBy,         [](const Job& j, View) { return j.killed_by ? std::int64_t{j.killed_by->value} : kAbsent; }},
    {C::AllocDetail,      alloc_detail},
    {C::OpenMode, [](const Job& j, View) { return static_cast<std::int64_t>(j.request->open_mode); }},
    {C::PriorityFactors,  priority_factors},
};
// clang-format on

}  // namespace

const std::vector<ColumnSource<Job>>& job_columns() { return kColumns; }

}  // namespace sluice
