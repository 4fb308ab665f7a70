// core/query/job_columns.cc: the columns of jobs.
#include <fmt/format.h>

#include <algorithm>

#include "core/place/layout.h"
#include "core/query/columns_of.h"
#include "core/query/listing.h"
#include "core/query/reason.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/hostlist.h"
#include "model/stage_in.h"

namespace sluice {

namespace {

using View = const Snapshot&;
using Scratch = std::string&;
using C = JobColumn;

const Shape& shape_of(const Job& job) {
    return job.request->shape;
}

const Node& node_of(const Snapshot& snapshot, NodeIndex index) {
    return *snapshot.nodes.find(index.value);
}

std::int64_t reason_of(const Job& job, View view) {
    return static_cast<std::int64_t>(shown_reason(job, *view.partitions, view.plan.get()));
}

// When it started, or is expected to.
std::int64_t start_of(const Job& job, View view) {
    if (job.run.start_time) return to_unix(*job.run.start_time);
    if (job.reason == Reason::BeginTime) return to_unix(job.eligible_time);
    const StartEstimate* estimate =
        view.plan && job.state == JobState::Pending ? view.plan->find(job.id) : nullptr;
    return estimate ? to_unix(estimate->start) : kAbsent;
}

// A pass evaluates all jobs in the queue, also those whose reason stays the same.
std::int64_t last_sched_eval(const Job& job, View view) {
    const bool in_queue = job.state == JobState::Pending && job.priority > 0 &&
                          job.dependency.empty() && job.reason != Reason::BeginTime;
    if (!in_queue || !view.plan) return unix_or_absent(job.last_sched_eval);
    return to_unix(std::max(view.plan->pass_time, job.eligible_time));
}

std::string_view stage_in(const Job& job, View, Scratch scratch) {
    return scratch = shown_stage_ins(job.details->text(&JobDetails::stage_in));
}

// The phase of the node that is behind all others.
std::string_view stage_state(const Job& job, View, Scratch scratch) {
    scratch.clear();
    if (!job.run.data_progress) return scratch;
    for (const std::string_view phase : {kStageListing, kStageCopying, kStageStreaming}) {
        for (const DataProgress& node : *job.run.data_progress) {
            if (node.phase == phase) return scratch = phase;
        }
    }
    return scratch = kStageReady;
}

template <std::uint64_t DataProgress::*Member>
std::int64_t stage_sum(const Job& job, View) {
    if (!job.run.data_progress) return kAbsent;
    std::uint64_t sum = 0;
    for (const DataProgress& node : *job.run.data_progress) sum += node.*Member;
    return static_cast<std::int64_t>(sum);
}

std::string_view sched_nodes(const Job& job, View view, Scratch scratch) {
    scratch.clear();
    if (job.state != JobState::Pending || !view.plan) return scratch;
    const StartEstimate* estimate = view.plan->find(job.id);
    if (!estimate || estimate->nodes.empty()) return scratch;
    std::vector<std::string> names;
    for (NodeIndex index : estimate->nodes) names.push_back(node_of(view, index).config.name);
    return scratch = Hostlist(std::move(names)).sorted().to_string();
}

// When it ended, or will at the latest if it starts as estimated.
std::int64_t shown_end_of(const Job& job, View view) {
    if (job.run.end_time) return to_unix(*job.run.end_time);
    if (job.time_limit.unlimited()) return kAbsent;
    if (job.run.start_time) return to_unix(limit_end(job));
    const std::int64_t start = start_of(job, view);
    return start == kAbsent ? kAbsent : start + job.time_limit.length().count();
}

// Compat: requested and excluded nodes are listed in order, each once.
std::string_view in_order(const std::string& named, Scratch scratch) {
    Result<Hostlist> hosts = Hostlist::parse(named);
    return hosts ? std::string_view(scratch = hosts->united({}).to_string())
                 : std::string_view(named);
}

std::int64_t exit_of(const ExitStatus& exit) {
    return exit.code * 256 + exit.signal;
}

std::int64_t node_count(const Job& job, View view) {
    if (job.run.allocation) return static_cast<std::int64_t>(job.run.allocation->nodes.size());
    return static_cast<std::int64_t>(tres_wanted(job, view)["node"]);
}

std::int64_t cpu_count(const Job& job, View view) {
    if (job.run.allocation) return job.run.allocation->cpus();
    return static_cast<std::int64_t>(tres_wanted(job, view)["cpu"]);
}

std::int64_t task_count(const Job& job, View) {
    const Shape& shape = shape_of(job);
    if (shape.ntasks) return *shape.ntasks;
    std::uint32_t nodes = std::max(1u, shape.nodes_min);
    if (job.run.allocation) nodes = static_cast<std::uint32_t>(job.run.allocation->nodes.size());
    return std::int64_t{nodes} * std::max(1u, shape.ntasks_per_node.value_or(1));
}

std::int64_t min_cpus_node(const Job& job, View) {
    const Shape& shape = shape_of(job);
    const std::uint64_t tasks = tasks_with_cpus(shape, shape.ntasks_per_node.value_or(1));
    return std::max(std::int64_t{shape.cpus_min_per_node.value_or(1)},
                    static_cast<std::int64_t>(shape.cpus_per_task * tasks));
}

std::int64_t over_subscribe(const Job& job, View view) {
    if (shape_of(job).oversubscribe) return 1;
    std::vector<std::string> names = partitions_of(job);
    for (const Partition& partition : *view.partitions) {
        bool mine = !names.empty() && partition.config.name == names.front();
        if (mine && partition.config.oversubscribe.rule != OverSubscription::Rule::No) return 2;
    }
    return 0;
}

std::int64_t switches_wait(const Job& job, View view) {
    return std::min(shape_of(job).switches_wait, view.settings->max_switch_wait).count();
}

template <typename T>
std::string_view per_gpu(const std::optional<T>& amount, Scratch scratch) {
    return scratch = amount ? fmt::format("gres/gpu:{}", *amount) : "";
}

template <std::optional<std::uint32_t> Shape::*Member>
std::int64_t shape_number(const Job& job, View) {
    return or_absent(shape_of(job).*Member);
}

template <bool Shape::*Member>
std::int64_t shape_flag(const Job& job, View) {
    return shape_of(job).*Member;
}

std::string_view batch_host(const Job& job, View view, Scratch) {
    if (!job.run.allocation) return {};
    return node_of(view, job.run.allocation->nodes.front().node).config.name;
}

std::string_view completing_nodes(const Job& job, View view, Scratch scratch) {
    std::vector<std::string> names;
    for (NodeIndex index : job.run.completing_nodes)
        names.push_back(node_of(view, index).config.name);
    return scratch = Hostlist(std::move(names)).to_string();
}

std::string_view tres_per_task(const Job& job, View, Scratch scratch) {
    const Shape& shape = shape_of(job);
    scratch = shape.cpus_per_task_set ? fmt::format("cpu={}", shape.cpus_per_task) : "";
    for (const GresCount& demand : shape.gpus_per_task) {
        if (!scratch.empty()) scratch += ',';
        scratch += fmt::format("gres/{}{}{}={}", demand.name, demand.type.empty() ? "" : ":",
                               demand.type, demand.count);
    }
    return scratch;
}

std::string_view alloc_detail(const Job& job, View view, Scratch scratch) {
    scratch.clear();
    if (!job.run.allocation) return scratch;
    for (const NodeShare& share : job.run.allocation->nodes) {
        std::string gres;
        for (const NodeShare::Devices& devices : share.gres) {
            if (!gres.empty()) gres += ',';
            gres += devices.name + (devices.type.empty() ? "" : ":") + devices.type;
            const std::string count = print_gres_count(devices.count);
            gres += devices.indexes.empty()
                        ? fmt::format("(CNT:{})", count)
                        : fmt::format(":{}(IDX:{})", count, print_indexes(devices.indexes));
        }
        scratch += fmt::format("Nodes={} CPU_IDs={} Mem={} GRES={}\n",
                               node_of(view, share.node).config.name, print_indexes(share.cpus),
                               share.memory, gres);
    }
    scratch.pop_back();
    return scratch;
}

std::string_view alloc_layout(const Job& job, View view, Scratch scratch) {
    scratch.clear();
    if (!job.run.allocation) return scratch;
    for (const NodeShare& share : job.run.allocation->nodes) {
        const NodeConfig& config = node_of(view, share.node).config;
        scratch += fmt::format("{}:{}:{}\n", config.sockets, config.cores_per_socket,
                               cpus_per_core(config));
    }
    scratch.pop_back();
    return scratch;
}

std::string_view std_out(const Job& job, View, Scratch) {
    if (job.request->kind != JobKind::Batch) return {};
    std::string_view asked = job.details->text(&JobDetails::std_out);
    if (!asked.empty()) return asked;
    return job.array_job ? "slurm-%A_%a.out" : "slurm-%j.out";
}

// Compat: jobs that are held, or wait for a dependency or their begin time, are not listed with
// their factors; with ACCRUE_ALWAYS the latter two are.
std::string_view priority_factors(const Job& job, View view, Scratch scratch) {
    scratch.clear();
    const PriorityScale& scale = *view.priority_scale;
    if (job.state != JobState::Pending || job.priority == 0 || !scale.weights().multifactor)
        return scratch;
    const bool is_eligible = job.eligible_time <= view.time && job.dependency.empty();
    if (!is_eligible && !scale.accrue_always) return scratch;
    for (std::string& name : partitions_of(job)) {
        PriorityLine line{.partition = std::move(name),
                          .total = static_cast<double>(view.priorities.of(job)),
                          .by_hand = job.priority_by_hand,
                          .factors = {}};
        if (is_calculated(job)) {
            line.factors = factors_of(scale, job, line.partition);
            line.total = line.factors.total();
        }
        append_priority_line(line, scratch);
    }
    return scratch;
}

template <std::string JobTerms::*Member>
std::string_view demand(const Job& job, View, Scratch) {
    return (*job.request).*Member;
}

template <std::string JobDetails::*Member>
std::string_view detail(const Job& job, View, Scratch) {
    return job.details->text(Member);
}

// clang-format off
const std::vector<ColumnSource<Job>> kColumns = {
    {C::Id,               [](const Job& j, View) -> std::int64_t { return j.id.value; }},
    {C::ArrayJobId,       [](const Job& j, View) { return j.array_job ? std::int64_t{j.array_job->value} : kAbsent; }},
    {C::ArrayTaskId,      [](const Job& j, View) { return or_absent(j.array_task); }},
    {C::ArrayTasks,       [](const Job& j, View, Scratch s) -> std::string_view { return s = j.array_tasks.to_string(); }},
    {C::ArrayLimit,       [](const Job& j, View) -> std::int64_t { return j.array_limit; }},
    {C::Name,             detail<&JobDetails::name>},
    {C::UserId,           [](const Job& j, View) -> std::int64_t { return j.user.value; }},
    {C::GroupId,          [](const Job& j, View) -> std::int64_t { return j.group.value; }},
    {C::Account,          demand<&JobTerms::account>},
    {C::Qos,              demand<&JobTerms::qos>},
    {C::Partition,        [](const Job& j, View, Scratch) -> std::string_view { return j.partition; }},
    {C::State,            [](const Job& j, View) { return static_cast<std::int64_t>(shown_state(j)); }},
    {C::BaseState,        [](const Job& j, View) { return static_cast<std::int64_t>(j.state); }},
    {C::Reason, reason_of},
    {C::ReasonDetail,     [](const Job& j, View v, Scratch) { return shown_detail(j, v.plan.get()); }},
    {C::Priority,         [](const Job& j, View v) -> std::int64_t { return v.priorities.of(j); }},
    {C::Nice,             [](const Job& j, View) -> std::int64_t { return j.request->nice; }},
    {C::Requeue,          [](const Job& j, View) -> std::int64_t { return j.request->requeue; }},
    {C::Restarts,         [](const Job& j, View) -> std::int64_t { return j.run.restarts; }},
    {C::Batch,            [](const Job& j, View) -> std::int64_t { return j.request->kind == JobKind::Batch; }},
    {C::ExitCode,         [](const Job& j, View) { return exit_of(j.run.exit); }},
    {C::DerivedExitCode,  [](const Job& j, View) { return exit_of(j.run.derived_exit); }},
    {C::SubmitTime,       [](const Job& j, View) { return to_unix(j.submit_time); }},
    {C::EligibleTime,     [](const Job& j, View) { return j.state == JobState::Pending && (j.priority == 0 || !j.dependency.empty()) ? kAbsent : to_unix(j.eligible_time); }},
    {C::StartTime,        start_of},
    {C::EndTime,          shown_end_of},
    {C::Deadline,         [](const Job& j, View) { return unix_or_absent(j.request->deadline); }},
    {C::TimeLimit, [](const Job& j, View) { return seconds_of(j.time_limit); }},
    {C::TimeMin,          [](const Job& j, View) { return j.request->time_min ? seconds_of(*j.request->time_min) : kAbsent; }},
    {C::LastSchedEval,    last_sched_eval},
    {C::SuspendedSeconds, [](const Job& j, View) -> std::int64_t { return j.run.suspended.count(); }},
    {C::AllocNode,        demand<&JobTerms::submit_host>},
    {C::AllocSid,         [](const Job& j, View) -> std::int64_t { return j.details->submit_sid(); }},
    {C::ReqNodes,         [](const Job& j, View, Scratch s) { return in_order(shape_of(j).nodelist, s); }},
    {C::ExcNodes,         [](const Job& j, View, Scratch s) { return in_order(shape_of(j).exclude, s); }},
    {C::NodeList,         [](const Job& j, View, Scratch) -> std::string_view { return j.run.allocation ? std::string_view(j.run.allocation->node_names) : ""; }},
    {C::CompletingNodes,  completing_nodes},
    {C::BatchHost,        batch_host},
    {C::NodeCount,        node_count},
    {C::NodeCountMax,     [](const Job& j, View) { return or_absent(shape_of(j).nodes_max); }},
    {C::CpuCount,         cpu_count},
    {C::TaskCount,        task_count},
    {C::CpusPerTask,      [](const Job& j, View) { return shape_of(j).cpus_per_task_set ? std::int64_t{shape_of(j).cpus_per_task} : kAbsent; }},
    {C::NtasksPerNode,    [](const Job& j, View) { return or_absent(shape_of(j).ntasks_per_node); }},
    {C::MinCpusNode,      min_cpus_node},
    {C::MemPerNode,       [](const Job& j, View v) { return or_absent(memory_in_force(j, v, false)); }},
    {C::MemPerCpu,        [](const Job& j, View v) { return or_absent(memory_in_force(j, v, true)); }},
    {C::MinTmpDisk,       [](const Job& j, View) -> std::int64_t { return static_cast<std::int64_t>(shape_of(j).tmp_min.value_or(0)); }},
    {C::ReqTres,          [](const Job& j, View v, Scratch s) -> std::string_view { return s = print_tres(tres_wanted(j, v)); }},
    {C::AllocTres,        [](const Job& j, View v, Scratch s) -> std::string_view { return s = j.run.allocation ? print_tres(tres_of(j, v)) : ""; }},
    {C::TresPerNode,      [](const Job& j, View, Scratch s) -> std::string_view { return s = print_tres_per(shape_of(j).gres_per_node); }},
    {C::TresPerJob,       [](const Job& j, View, Scratch s) -> std::string_view { return s = print_tres_per(shape_of(j).gpus); }},
    {C::TresPerTask,      tres_per_task},
    {C::Features,         [](const Job& j, View, Scratch) -> std::string_view { return shape_of(j).constraint; }},
    {C::OverSubscribe,    over_subscribe},
    {C::Exclusive, [](const Job& j, View) { return static_cast<std::int64_t>(shape_of(j).exclusive); }},
    {C::Licenses,         demand<&JobTerms::licenses>},
    {C::Reservation,      [](const Job& j, View, Scratch) -> std::string_view { return reservation_of(j); }},
    {C::Dependency,       [](const Job& j, View, Scratch s) -> std::string_view { return s = print_dependency(j.dependency); }},
    {C::Command,          detail<&JobDetails::command>},
    {C::SubmitLine,       detail<&JobDetails::submit_line>},
    {C::WorkDir,          detail<&JobDetails::work_dir>},
    {C::StdIn,            detail<&JobDetails::std_in>},
    {C::StdOut,           std_out},
    {C::StdErr,           detail<&JobDetails::std_err>},
    {C::Comment,          detail<&JobDetails::comment>},
    {C::Extra,            detail<&JobDetails::extra>},
    {C::Container,        detail<&JobDetails::container>},
    {C::Sync,             detail<&JobDetails::sync>},
    {C::DataProblem,      [](const Job& j, View, Scratch) -> std::string_view { return j.run.data_problem; }},
    {C::AdminComment,     [](const Job& j, View, Scratch) -> std::string_view { return j.admin_comment; }},
    {C::MailUser,         demand<&JobTerms::mail_user>},
    {C::MailType,         demand<&JobTerms::mail_types>},
    {C::Wckey,            demand<&JobTerms::wckey>},
    {C::Sluid,            [](const Job& j, View, Scratch s) -> std::string_view { return s = print_sluid(j.run.sluid); }},
    {C::AllocDetail,      alloc_detail},
    {C::AllocLayout,      alloc_layout},
    {C::NtasksPerSocket,  shape_number<&Shape::ntasks_per_socket>},
    {C::NtasksPerCore,    shape_number<&Shape::ntasks_per_core>},
    {C::NtasksPerGpu,     shape_number<&Shape::ntasks_per_gpu>},
    {C::SocketsPerNode,   shape_number<&Shape::sockets_per_node>},
    {C::CoresPerSocket,   shape_number<&Shape::cores_per_socket>},
    {C::ThreadsPerCore,   shape_number<&Shape::threads_per_core>},
    {C::CoreSpec,         shape_number<&Shape::core_spec>},
    {C::ThreadSpec,       shape_number<&Shape::thread_spec>},
    {C::NodeSizes,        [](const Job& j, View, Scratch) -> std::string_view { return shape_of(j).node_sizes; }},
    {C::TresBind,         [](const Job& j, View, Scratch) -> std::string_view { return j.request->tres_bind; }},
    {C::TresFreq,         demand<&JobRequest::tres_freq>},
    {C::MemPerGpu,        [](const Job& j, View) { return or_absent(shape_of(j).mem_per_gpu); }},
    {C::Contiguous,       shape_flag<&Shape::contiguous>},
    {C::SpreadJob,        shape_flag<&Shape::spread>},
    {C::UseMinNodes,      shape_flag<&Shape::use_min_nodes>},
    {C::GresEnforceBind,  shape_flag<&Shape::bind_gpus_to_cores>},
    {C::SwitchesMax,      shape_number<&Shape::switches_max>},
    {C::SwitchesWait,     switches_wait},
    {C::Prefer,           [](const Job& j, View, Scratch) -> std::string_view { return shape_of(j).prefer; }},
    {C::CpusPerTres,      [](const Job& j, View, Scratch s) { return per_gpu(shape_of(j).cpus_per_gpu, s); }},
    {C::MemPerTres,       [](const Job& j, View, Scratch s) { return per_gpu(shape_of(j).mem_per_gpu, s); }},
    {C::TresPerSocket,    [](const Job& j, View, Scratch s) -> std::string_view { return s = print_tres_per(shape_of(j).gpus_per_socket); }},
    {C::SuspendTime,      [](const Job& j, View) { return unix_or_absent(j.run.suspend_time); }},
    {C::LicensesAlloc,    [](const Job& j, View, Scratch) -> std::string_view { return j.run.licenses_held; }},
    {C::KillOnInvalidDep, [](const Job& j, View) { return or_absent(j.request->kill_on_invalid_dep); }},
    {C::SchedNodes,       sched_nodes},
    {C::LastCheckpoint,   [](const Job& j, View) { return unix_or_absent(j.run.last_checkpoint); }},
    {C::GpuState,         [](const Job& j, View, Scratch) -> std::string_view { return !is_live(j) ? "" : j.run.gpu_hung_warned ? "HUNG" : j.run.gpu_idle_warned ? "IDLE" : ""; }},
    {C::GpusIdleSince,    [](const Job& j, View) { return is_live(j) ? unix_or_absent(j.run.gpus_idle_since) : kAbsent; }},
    {C::PriorityFactors,  priority_factors},
    {C::StageIn,          stage_in},
    {C::StageState,       stage_state},
    {C::StageBytes,       stage_sum<&DataProgress::bytes_done>},
    {C::StageTotal,       stage_sum<&DataProgress::bytes_total>},
    {C::StageRead,        stage_sum<&DataProgress::bytes_read>},
};
// clang-format on

}  // namespace

std::optional<Megabytes> memory_in_force(const Job& job, View view, bool per_cpu) {
    const Shape& shape = shape_of(job);
    if (shape.mem_per_gpu) return std::nullopt;
    if (shape.mem_per_cpu || shape.mem_per_node)
        return per_cpu ? shape.mem_per_cpu : shape.mem_per_node;
    std::vector<std::string> names = partitions_of(job);
    for (const Partition& partition : *view.partitions) {
        if (names.empty() || partition.config.name != names.front()) continue;
        const PartitionConfig& config = partition.config;
        if (config.def_mem_per_cpu || config.def_mem_per_node) {
            return per_cpu ? config.def_mem_per_cpu : config.def_mem_per_node;
        }
    }
    if (view.settings->def_mem_per_cpu)
        return per_cpu ? view.settings->def_mem_per_cpu : std::nullopt;
    return per_cpu ? std::nullopt : view.settings->def_mem_per_node;
}

const std::vector<ColumnSource<Job>>& job_columns() {
    return kColumns;
}

}  // namespace sluice
