#include "sim/world.h"

#include <algorithm>
#include <csignal>

#include "base/check.h"
#include "model/errors.h"
#include "policy/apply.h"
#include "policy/dump_file.h"

namespace sluice {
namespace {

constexpr UserId kFirstUser{1000};
constexpr GroupId kUsersGroup{1000};
// If nothing runs and no job arrives for this long the simulation ends: timers can fire forever.
constexpr Seconds kPatience{30 * 24 * 3600};

std::uint64_t gpus_of(const Allocation& allocation) {
    std::uint64_t sum = 0;
    for (const NodeShare& share : allocation.nodes) {
        for (const NodeShare::Devices& devices : share.gres) {
            if (devices.name == "gpu") sum += devices.count;
        }
    }
    return sum;
}

// A GPU job has a task per GPU, so that it spreads over as many nodes as that takes; any other job
// a task per CPU.
std::shared_ptr<const JobRequest> request_of(const TraceJob& job) {
    auto request = std::make_shared<JobRequest>();
    request->name = job.name;
    request->account = job.account;
    request->qos = job.qos;
    request->partition = job.partition;
    if (job.limit) request->time_limit = TimeLimit{*job.limit};
    Shape& shape = request->shape;
    shape.ntasks = std::max(job.cpus, job.nodes);
    if (job.nodes > 0) shape.nodes_min = job.nodes;
    if (job.gpus > 0) {
        shape.ntasks = job.gpus;
        shape.cpus_per_task = (std::max(job.cpus, 1u) + job.gpus - 1) / job.gpus;
        shape.gpus_per_task = {{"gpu", "", 1}};
    }
    shape.mem_per_cpu = job.mem_per_cpu;
    shape.mem_per_node = job.mem_per_node;
    return request;
}

}  // namespace

World::World(Settings settings, const Trace& trace, Progress progress)
    : trace_(trace),
      progress_(std::move(progress)),
      cluster_(std::make_shared<const Settings>(for_simulation(std::move(settings))),
               trace.jobs.front().submit) {
    outcome_.jobs.resize(trace.jobs.size());
    Time now = trace.jobs.front().submit;
    for (const NodeConfig& node : cluster_.settings().nodes) {
        apply(cluster_, now, NodeRegistered{node.name, {}, {}}, effects_);
        outcome_.cpus += node.cpus;
        for (const GresCount& gres : node.gres) {
            if (gres.name == "gpu") outcome_.gpus += gres.count;
        }
    }
    QosDefinitions named;
    for (const TraceJob& job : trace.jobs) {
        if (!job.qos.empty() && (named.empty() || named.back().first != job.qos))
            named.push_back({job.qos, {}});
    }
    CHECK(set_qos(named), "a QOS without settings was refused");
    effects_.clear();
}

Result<void> World::set_qos(const QosDefinitions& table) {
    const Time now = trace_.jobs.front().submit;
    Policy policy = cluster_.policy();
    PolicyFacts facts{.gres = cluster_.settings().gres_types};
    if (!cluster_.settings().preempt.gang) facts.cannot_suspend = cluster_.settings().cluster_name;
    TRY(define_qos(policy, table, facts, now));
    take_policy(std::move(policy));
    return {};
}

void World::take_policy(Policy policy) {
    apply(cluster_, trace_.jobs.front().submit,
          PolicyChanged{std::make_shared<const Policy>(std::move(policy))}, effects_);
    effects_.clear();
}

UserId World::user_of(const std::string& name) {
    const UserId next{kFirstUser.value + static_cast<std::uint32_t>(users_.size())};
    return users_.try_emplace(name, next).first->second;
}

Result<void> World::load_policy(std::string_view dump) {
    const Time now = trace_.jobs.front().submit;
    QosDefinitions named;
    for (const std::string& name : qos_in_dump(dump)) {
        const auto is_it = [&](const auto& each) { return each.first == name; };
        const auto is_known = [&](const Qos& each) { return each.name == name; };
        if (std::any_of(named.begin(), named.end(), is_it) ||
            std::any_of(cluster_.qos().begin(), cluster_.qos().end(), is_known))
            continue;
        named.push_back({name, {}});
    }
    TRY(set_qos(named));
    std::string cluster = cluster_.settings().cluster_name;
    Policy policy = first_policy(cluster, now);
    policy.qos = cluster_.policy().qos;
    policy.next_id = std::max(policy.next_id, cluster_.policy().next_id);
    Tres gres;
    for (const NodeConfig& node : cluster_.settings().nodes)
        for (const GresCount& each : node.gres) gres["gres/" + each.name] = 0;
    add_tres(policy, gres);
    TRY(load_dump(policy, cluster, dump, false));
    for (PolicyUser& each : policy.users) each.uid = user_of(each.name);
    for (Association& each : policy.associations)
        if (!each.user.empty()) each.uid = user_of(each.user);
    take_policy(std::move(policy));
    return {};
}

Outcome World::run() {
    Time last_news = trace_.jobs.front().submit;
    std::size_t steps = 0;
    while (ended_ < trace_.jobs.size()) {
        std::optional<Time> now = next_time();
        if (!now || (running_.empty() && next_submit_ == trace_.jobs.size() &&
                     *now > last_news + kPatience)) {
            break;  // what is left never starts
        }
        if (!running_.empty()) last_news = *now;
        step(*now);
        if (progress_ && ++steps % 1024 == 0) progress_(ended_, trace_.jobs.size());
    }
    return std::move(outcome_);
}

std::optional<Time> World::next_time() const {
    std::optional<Time> next = cluster_.next_timer();
    if (!ends_.empty()) next = std::min(next.value_or(ends_.next()), ends_.next());
    if (next_submit_ < trace_.jobs.size()) {
        Time submit = trace_.jobs[next_submit_].submit;
        next = std::min(next.value_or(submit), submit);
    }
    return next;
}

// Ends come first: a job that is over at its limit has kept it.
void World::step(Time now) {
    while (!ends_.empty() && ends_.next() <= now) {
        RunEnd end = ends_.take();
        auto run = running_.find(end.run.job.value);
        if (run == running_.end() || run->second.restarts != end.run.restarts) continue;
        if (run->second.stopped || run->second.end != end.end) continue;
        NodeIndex node = run->second.node;
        leave(run->second);
        running_.erase(run);
        touched_.push_back(end.run.job);
        apply(cluster_, now, JobEnded{node, end.run, {}, {}}, effects_);
    }
    if (auto due = cluster_.next_timer(); due && *due <= now)
        apply(cluster_, now, Tick{}, effects_);
    while (next_submit_ < trace_.jobs.size() && trace_.jobs[next_submit_].submit <= now) {
        submit(now, next_submit_++);
    }
    settle(now);
    record_ends();
    cluster_.take_changes();  // they are not stored
    Sample sample{now, cpus_busy_, gpus_busy_, waiting_};
    if (!outcome_.samples.empty() && outcome_.samples.back().time == now) {
        outcome_.samples.back() = sample;
    } else {
        outcome_.samples.push_back(sample);
    }
}

void World::submit(Time now, std::size_t index) {
    const TraceJob& job = trace_.jobs[index];
    auto request = request_of(job);
    if (!job.partition.empty() && !cluster_.find_partition(job.partition)) {
        auto moved = std::make_shared<JobRequest>(*request);
        moved->partition.clear();
        request = std::move(moved);
        ++outcome_.moved;
    }
    const UserId user = user_of(job.user);
    std::size_t before = effects_.size();
    apply(cluster_, now, SubmitJob{RequestId{index + 1}, {user, kUsersGroup}, request, {}, false},
          effects_);
    for (std::size_t i = before; i < effects_.size(); ++i) {
        const auto* reply = std::get_if<Reply>(&effects_[i]);
        if (!reply || reply->request != RequestId{index + 1}) continue;
        if (const auto* accepted = std::get_if<Submitted>(&reply->answer)) {
            index_of_[accepted->job.value] = index;
            ++waiting_;
        } else {
            outcome_.jobs[index].refusal = to_string(std::get<Error>(reply->answer));
            ++ended_;
        }
    }
}

// Nodes do at once what they are told; what that frees may let others start.
void World::settle(Time now) {
    bool cleaned = true;
    while (cleaned) {
        cleaned = false;
        for (std::size_t i = 0; i < effects_.size(); ++i) {
            Effect effect = std::move(effects_[i]);
            if (const auto* order = std::get_if<TerminateJob>(&effect)) on_terminate(now, *order);
            if (const auto* order = std::get_if<LaunchBatch>(&effect)) on_launch(now, *order);
            if (const auto* order = std::get_if<SignalJob>(&effect)) on_signal(now, *order);
        }
        effects_.clear();
        schedule(cluster_, now, effects_);
        cleaned = !effects_.empty();
    }
}

void World::on_launch(Time now, const LaunchBatch& order) {
    const Job& job = *order.job;
    std::size_t index = index_of_.at(job.id.value);
    JobOutcome& outcome = outcome_.jobs[index];
    Run run{job.run.restarts, now, job.run.allocation->cpus(), gpus_of(*job.run.allocation)};
    outcome.start = now;
    outcome.cpus = static_cast<std::uint32_t>(run.cpus);
    outcome.gpus = static_cast<std::uint32_t>(run.gpus);
    outcome.nodes = static_cast<std::uint32_t>(job.run.allocation->nodes.size());
    cpus_busy_ += run.cpus;
    gpus_busy_ += run.gpus;
    --waiting_;
    run.node = order.node;
    plan_end({job.id, job.run.restarts, kBatchStep}, running_[job.id.value] = run,
             now + trace_.jobs[index].duration);
}

void World::plan_end(RunId run_id, Run& run, Time end) {
    run.end = end;
    ends_.add(end, {run_id, end});
}

// Suspended to make room: the clock of the run stands still, and others have its CPUs,
// though not its GPUs.
void World::on_signal(Time now, const SignalJob& order) {
    auto found = running_.find(order.run.job.value);
    if (found == running_.end() || found->second.restarts != order.run.restarts) return;
    Run& run = found->second;
    if (order.signal == SIGSTOP && !run.stopped) {
        run.stopped = true;
        run.left = run.end - now;
        cpus_busy_ -= run.cpus;
        ++outcome_.jobs[index_of_.at(order.run.job.value)].preemptions;
    } else if (order.signal == SIGCONT && run.stopped) {
        run.stopped = false;
        cpus_busy_ += run.cpus;
        plan_end(order.run, run, now + run.left);
    }
}

void World::on_terminate(Time now, const TerminateJob& order) {
    auto run = running_.find(order.run.job.value);
    if (run != running_.end() && run->second.restarts == order.run.restarts) {
        auto job = cluster_.find_job(order.run.job);
        JobOutcome& outcome = outcome_.jobs[index_of_.at(order.run.job.value)];
        // Nobody cancels here: what is ended before its time had to make room.
        if (job->run.kill_reason != KillReason::TimeLimit) {
            ++outcome.preemptions;
            outcome.cpu_seconds_lost +=
                (now - run->second.start).count() * static_cast<std::int64_t>(run->second.cpus);
        }
        leave(run->second);
        running_.erase(run);
        touched_.push_back(order.run.job);
    }
    auto before = cluster_.find_job(order.run.job);
    bool ran = before && before->state != JobState::Pending;
    apply(cluster_, now, NodeCleaned{order.node, order.run}, effects_);
    auto after = cluster_.find_job(order.run.job);
    if (ran && after && after->state == JobState::Pending) ++waiting_;  // runs again
}

void World::leave(const Run& run) {
    if (!run.stopped) cpus_busy_ -= run.cpus;
    gpus_busy_ -= run.gpus;
}

void World::record_ends() {
    for (JobId id : touched_) {
        auto job = cluster_.find_job(id);
        auto index = index_of_.find(id.value);
        if (!job || index == index_of_.end() || !is_finished(job->state) || is_completing(*job))
            continue;
        JobOutcome& outcome = outcome_.jobs[index->second];
        outcome.state = job->state;
        outcome.end = job->run.end_time;
        index_of_.erase(index);
        ++ended_;
    }
    touched_.clear();
}

}  // namespace sluice
