// See facts.h.
#include "core/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cluster.h"
#include "core/limits/associations.h"
#include "core/limits/qos.h"
#include "core/limits/tres.h"
#include "core/place/use.h"
#include "model/distribution.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

// A hash of the values that accounting shows and that may change. Reason and priority of a waiting
// job change too often to be told each time.
std::size_t accounted_hash(const Job& job) {
    std::size_t hash = 0;
    const auto add = [&](auto value) {
        hash = (hash ^ static_cast<std::size_t>(value)) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    };
    const auto add_time = [&](const std::optional<Time>& time) { add(time ? to_unix(*time) : -1); };
    const auto add_text = [&](const std::string& text) { add(std::hash<std::string>{}(text)); };
    add(job.state);
    add(is_completing(job));
    add(job.run.restarts);
    add_time(job.run.start_time);
    add_time(job.run.end_time);
    add_time(job.run.suspend_time);
    add_time(job.eligible_time);
    add(job.run.suspended.count());
    add(reinterpret_cast<std::uintptr_t>(job.request.get()));
    add(reinterpret_cast<std::uintptr_t>(job.details.get()));
    add(reinterpret_cast<std::uintptr_t>(job.run.allocation.get()));
    add_text(job.partition);
    add_text(job.admin_comment);
    add(job.run.node_use.size());
    add(job.time_limit.unlimited() ? -1 : job.time_limit.length().count());
    add(job.array_tasks.size());
    for (const ExitStatus& exit : {job.run.exit, job.run.derived_exit})
        add(exit.code | exit.signal << 8 | exit.oom_killed << 16);
    add(job.run.usage.cpu_user.count());
    add(job.run.usage.rss_max_kb);
    return hash;
}

ShownState state_of(const Job& job) {
    return static_cast<ShownState>(job.state);  // also of a job that is completing
}

std::string absolute(std::string_view path, std::string_view directory) {
    if (path.empty() || path.starts_with('/')) return std::string(path);
    return fmt::format("{}/{}", directory, path);
}

void add_request(const Job& job, AccountedJob& fact) {
    const JobTerms& terms = *job.request;
    const JobDetails details = job.details->unpacked();
    fact.name = details.name;
    fact.account = terms.account;
    fact.qos_requested = terms.qos;
    fact.wckey = terms.wckey;
    fact.reservation_requested = terms.reservation;
    fact.memory_per_node = terms.shape.mem_per_node;
    fact.memory_per_cpu = terms.shape.mem_per_cpu;
    fact.comment = details.comment;
    fact.extra = details.extra;
    fact.container = details.container;
    fact.work_dir = details.work_dir;
    fact.submit_line = details.submit_line;
    fact.constraint = terms.shape.constraint;
    fact.licenses = job.run.licenses_held.empty() ? terms.licenses : job.run.licenses_held;
    fact.is_batch = terms.kind == JobKind::Batch;
    fact.script_hash = details.script_hash;
    fact.environment_hash = details.environment_hash;
    if (!fact.is_batch) return;
    const std::string_view usual = job.array_job ? "slurm-%A_%a.out" : "slurm-%j.out";
    fact.std_in = absolute(details.std_in, details.work_dir);
    fact.std_out = absolute(details.std_out.empty() ? usual : details.std_out, details.work_dir);
    fact.std_err =
        details.std_err.empty() ? fact.std_out : absolute(details.std_err, details.work_dir);
}

void add_run(const Cluster& cluster, const Job& job, const Partition* partition,
             AccountedJob& fact) {
    const Run& run = job.run;
    fact.restarts = run.restarts;
    fact.sluid = run.sluid;
    fact.start = run.start_time;
    fact.end = run.end_time;
    fact.suspended = run.suspended;
    if (job.state == JobState::Suspended) fact.suspend_time = run.suspend_time;
    fact.reservation = run.reservation;
    fact.exit = run.exit;
    fact.derived_exit = run.derived_exit;
    fact.killed_by = run.killed_by;
    fact.tres_requested = tres_wanted(job, partition, cluster.settings());
    fact.cpus_requested = static_cast<std::uint32_t>(fact.tres_requested["cpu"]);
    fact.nodes_requested = static_cast<std::uint32_t>(fact.tres_requested["node"]);
    if (run.start_time) fact.flags = run.overtook ? kStartedByBackfill : kStartedByMain;
    if (run.launched) fact.flags |= kStartReceived;
    if (const GpuSummary gpus = summary_of(run.node_use); gpus.gpus > 0) fact.gpu_use = gpus;
    if (!run.allocation) return;
    fact.tres_allocated = tres_of(*run.allocation);
    if (partition) {
        fact.tres_allocated["billing"] =
            billing_of(fact.tres_allocated, partition->config.tres_billing_weights,
                       cluster.settings().priority.billing);
    }
    fact.node_names = run.allocation->node_names;
    fact.node_count = static_cast<std::uint32_t>(run.allocation->nodes.size());
}

AccountedJob fact_of(const Cluster& cluster, const Job& job, ShownState state) {
    AccountedJob fact;
    fact.job = job.id;
    fact.array_job = job.array_job;
    fact.array_task = job.array_task;
    fact.array_tasks = job.array_tasks;
    fact.array_limit = job.array_limit;
    fact.user = job.user;
    fact.group = job.group;
    if (const Association* association = association_of(cluster, job))
        fact.association = association->id;
    fact.qos = qos_in_force(cluster, job.request->qos);
    fact.partition = job.partition;
    fact.state = state;
    fact.reason = job.reason;
    fact.submit = job.submit_time;
    fact.eligible = job.eligible_time;
    fact.time_limit = job.time_limit;
    fact.priority = cluster.find_job(job.id) ? cluster.priority(job.id) : job.priority;
    fact.admin_comment = job.admin_comment;
    const std::string_view first =
        std::string_view(job.partition).substr(0, job.partition.find(','));
    add_request(job, fact);
    add_run(cluster, job, cluster.find_partition(first), fact);
    return fact;
}

Tres tres_of_shares(const std::vector<NodeShare>& shares) {
    Allocation all;
    all.nodes = shares;
    Tres tres = tres_of(all);
    tres.erase("billing");
    return tres;
}

ShownState state_of(StepState state) {
    switch (state) {
        case StepState::Running:
            return ShownState::Running;
        case StepState::Completed:
            return ShownState::Completed;
        case StepState::Failed:
            return ShownState::Failed;
        case StepState::Cancelled:
            return ShownState::Cancelled;
        case StepState::Timeout:
            return ShownState::Timeout;
        case StepState::NodeFail:
            return ShownState::NodeFail;
        case StepState::OutOfMemory:
            return ShownState::OutOfMemory;
    }
    return ShownState::Failed;
}

AccountedStep fact_of(const Step& step, JobId job, std::uint32_t restarts) {
    AccountedStep fact;
    fact.job = job;
    fact.restarts = restarts;
    fact.step = step.id;
    fact.name = step.name;
    fact.user = step.user;
    fact.state = state_of(step.state);
    fact.exit = step.exit;
    fact.start = step.start_time;
    fact.end = step.end_time;
    fact.time_limit = step.time_limit;
    fact.tasks = step.tasks;
    if (step.id != kExternStep) fact.layout = print_distribution(step.distribution);
    fact.container = step.container;
    fact.tres_allocated = tres_of_shares(step.nodes);
    fact.cpus = static_cast<std::uint32_t>(fact.tres_allocated["cpu"]);
    fact.node_count = static_cast<std::uint32_t>(step.nodes.size());
    fact.node_names = step.node_names;
    fact.usage = step.usage;
    return fact;
}

// Compat: the step "extern" has all that its job has, with its billing.
AccountedStep fact_of_extern(const Cluster& cluster, const Step& step, JobId id,
                             std::uint32_t restarts) {
    AccountedStep fact = fact_of(step, id, restarts);
    const std::shared_ptr<const Job> job = cluster.find_job(id);
    const Partition* partition = job ? cluster.find_partition(job->partition) : nullptr;
    if (!partition) return fact;
    fact.tres_allocated["billing"] =
        billing_of(fact.tres_allocated, partition->config.tres_billing_weights,
                   cluster.settings().priority.billing);
    return fact;
}

// Compat: a script that the controller ended is a cancelled step, whatever the job's state. One
// that is requeued may have failed by itself: RequeueExit, or the signal before a preemption.
ShownState batch_state(ShownState job, const ExitStatus& exit) {
    switch (job) {
        case ShownState::Timeout:
        case ShownState::Deadline:
            return ShownState::Cancelled;
        case ShownState::Preempted:
        case ShownState::Requeued:
            return exit.signal == 0 && exit.code != 0 ? ShownState::Failed : ShownState::Cancelled;
        case ShownState::Suspended:
            return ShownState::Running;
        default:
            return job;
    }
}

std::optional<AccountedStep> batch_step(const Cluster& cluster, const Job& job, ShownState state) {
    const Run& run = job.run;
    if (job.request->kind != JobKind::Batch || !run.start_time || !run.allocation) return {};
    const NodeShare& head = run.allocation->nodes.front();
    AccountedStep fact;
    fact.job = job.id;
    fact.restarts = run.restarts;
    fact.step = kBatchStep;
    fact.name = "batch";
    fact.container = job.details->text(&JobDetails::container);
    fact.user = job.user;
    fact.state = batch_state(state, run.exit);
    fact.exit = run.exit;
    fact.start = *run.start_time;
    fact.end = run.end_time;
    fact.suspended = run.suspended;
    fact.tasks = 1;
    fact.node_count = 1;
    fact.node_names = cluster.node(head.node).config.name;
    fact.tres_allocated = tres_of_shares({head});
    fact.cpus = static_cast<std::uint32_t>(head.cpus.size());
    fact.usage = run.usage;
    return fact;
}

// "DOWN", "DRAIN", "DOWN+DRAIN"; empty: available.
std::string unavailable_as(const Node& node) {
    std::string state = node.down ? "DOWN" : "";
    const auto add = [&](std::uint32_t flag, std::string_view word) {
        if ((node.admin_flags & flag) == 0) return;
        state += fmt::format("{}{}", state.empty() ? "" : "+", word);
    };
    add(kNodeDrain, "DRAIN");
    add(kNodeFail, "FAIL");
    return state;
}

AccountedReservation fact_of(const Cluster& cluster, const Reservation& reservation) {
    AccountedReservation fact{.id = reservation.number,
                              .name = reservation.name,
                              .start = reservation.start,
                              .end = reservation.end,
                              .associations = {},
                              .node_names = reservation.node_names,
                              .flags = reservation.flags,
                              .tres = {},
                              .comment = reservation.comment};
    for (NodeIndex index : reservation.nodes) {
        const Node& node = cluster.node(index);
        fact.tres["cpu"] += reservation.cores_of(node.config.name, usable_cpus(node));
        fact.tres["node"] += 1;
    }
    return fact;
}

// With its batch script, which is a step.
void tell_run(const Cluster& cluster, const Job& job, ShownState state, std::vector<Fact>& facts) {
    facts.push_back(fact_of(cluster, job, state));
    if (!cluster.settings().accounts_for_steps) return;
    if (auto batch = batch_step(cluster, job, state)) facts.push_back(*batch);
}

}  // namespace

void FactBook::run_ended(ShownState state, std::shared_ptr<const Job> run) {
    ended_runs_.push_back({state, std::move(run)});
}

void FactBook::step_changed(JobId job, std::uint32_t restarts, std::shared_ptr<const Step> step) {
    changed_steps_.push_back({job, restarts, std::move(step)});
}

void FactBook::reservation_gone(const Reservation& reservation) {
    gone_reservations_.push_back(reservation);
    gone_reservations_.back().end = std::min(reservation.end, now_);
}

std::vector<Fact> FactBook::take(const Cluster& cluster, const Changed& changed) {
    std::vector<Fact> facts;
    if (!resources_are_told_) tell_resources(cluster, facts);
    const auto ended_runs = std::exchange(ended_runs_, {});
    const auto changed_steps = std::exchange(changed_steps_, {});
    if (cluster.settings().accounts_for_jobs) {
        for (const EndedRun& ended : ended_runs) tell_run(cluster, *ended.job, ended.state, facts);
        for (const auto& job : changed.jobs) tell_job(cluster, job, facts);
    }
    if (cluster.settings().accounts_for_steps) {
        for (const ChangedStep& each : changed_steps) {
            facts.push_back(each.step->id == kExternStep
                                ? fact_of_extern(cluster, *each.step, each.job, each.restarts)
                                : fact_of(*each.step, each.job, each.restarts));
        }
    }
    for (NodeIndex node : changed.nodes) tell_node(cluster.node(node), facts);
    for (const Reservation& each : changed.reservations) facts.push_back(fact_of(cluster, each));
    for (const Reservation& each : std::exchange(gone_reservations_, {}))
        facts.push_back(fact_of(cluster, each));
    return facts;
}

void FactBook::tell_job(const Cluster& cluster, const std::shared_ptr<const Job>& job,
                        std::vector<Fact>& facts) {
    const std::size_t hash = accounted_hash(*job);
    std::size_t& told = told_[job->id.value];
    if (told == hash) return;
    told = hash;
    tell_run(cluster, *job, state_of(*job), facts);
}

void FactBook::tell_node(const Node& node, std::vector<Fact>& facts) {
    const std::string state = unavailable_as(node);
    const auto open = open_events_.find(node.index);
    if (open != open_events_.end()) {
        AccountedEvent& event = open->second;
        if (event.state == state && event.reason == node.reason) return;
        event.end = std::max(now_, event.start);
        facts.push_back(event);
        open_events_.erase(open);
    }
    if (state.empty()) return;
    const AccountedEvent event{.node = node.config.name,
                               .start = node.reason_time.value_or(now_),
                               .end = {},
                               .state = state,
                               .reason = node.reason,
                               .reason_user = node.reason_user,
                               .tres = cfg_tres(node),
                               .cluster_nodes = {}};
    facts.push_back(event);
    open_events_.emplace(node.index, event);
}

void FactBook::tell_resources(const Cluster& cluster, std::vector<Fact>& facts) {
    resources_are_told_ = true;
    AccountedEvent event;
    event.start = now_;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        const Node& node = cluster.node(NodeIndex{i});
        if (node.removed) continue;
        names.push_back(node.config.name);
        for (const auto& [name, amount] : cfg_tres(node)) event.tres[name] += amount;
        // After a restart: what was not available before still is not.
        if (!open_events_.contains(node.index)) tell_node(node, facts);
    }
    event.tres["node"] = names.size();
    for (const std::string& name : cluster.settings().tracked_tres) event.tres.try_emplace(name, 0);
    event.cluster_nodes = Hostlist(std::move(names)).to_string();
    facts.push_back(event);
}

}  // namespace sluice
