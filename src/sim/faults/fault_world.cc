#include "sim/faults/fault_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/errors.h"
#include "sim/faults/workload.h"

namespace sluice {
namespace {

constexpr Time kStart = from_unix(1'800'000'000);
constexpr Seconds kFaultyTime{1800};    // jobs arrive and faults happen
constexpr Seconds kPatience{6 * 3600};  // then all must have settled
constexpr Seconds kClientTimeout{20};
constexpr double kLostMessage = 0.05;
constexpr Caller kUser{UserId{1000}, GroupId{1000}};
constexpr Caller kRoot{UserId{0}, GroupId{0}};

}  // namespace

FaultWorld::FaultWorld(FaultOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      now_(kStart),
      calm_from_(kStart + kFaultyTime) {
    settings_ = std::make_shared<const Settings>(random_settings(random_, options_.nodes, options_.with_preemption));
    result_.hash = 0xcbf29ce484222325;
    node_ends_.resize(options_.nodes);
    controller_ends_.resize(options_.nodes);
    reachable_from_.resize(options_.nodes, kStart);
    for (std::uint32_t i = 0; i < options_.nodes; ++i) {
        machines_.push_back(
            std::make_unique<Machine>(static_cast<MachineHost&>(*this), NodeIndex{i}));
    }
}

FaultResult FaultWorld::run() {
    start_controller();
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        connect(i);
        heartbeat(i);
    }
    plan_users();
    plan_faults();
    later(kFaultyTime, [this] {
        calm_ = true;
        log("the faults stop");
        look_after_held_jobs();
    });
    while (!result_.failure && !agenda_.empty() && !is_settled()) {
        now_ = agenda_.next();
        if (now_ > calm_from_ + kPatience) break;
        agenda_.take()();
        ++result_.events;
    }
    if (!result_.failure) check_the_end();
    return result_;
}

void FaultWorld::later(Seconds delay, std::function<void()> what) {
    agenda_.add(now_ + delay, std::move(what));
}

void FaultWorld::log(std::string what) {
    std::string line = fmt::format("{} {}", (now_ - kStart).count(), what);
    for (char c : line)
        result_.hash = (result_.hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    if (options_.on_event) options_.on_event(line);
}

void FaultWorld::fail(std::string what) {
    if (!result_.failure)
        result_.failure = fmt::format("after {} s: {}", (now_ - kStart).count(), what);
}

// ---- users

void FaultWorld::plan_users() {
    for (std::uint32_t i = 0; i < options_.jobs; ++i) {
        clients_.push_back({random_request(random_, options_.nodes, options_.with_preemption), false, {}});
        later(Seconds{random_.between(0, kFaultyTime.count())}, [this, i] { submit(i); });
    }
    for (std::uint32_t i = 0; i < options_.jobs / 4; ++i) {
        later(Seconds{random_.between(0, kFaultyTime.count())}, [this] { command(); });
    }
}

// Repeated with the same key until there is an answer.
void FaultWorld::submit(std::size_t index) {
    if (clients_[index].answered) return;
    RequestId request{next_request_++};
    asked_[request.value] = index;
    if (calm_ || !random_.chance(kLostMessage)) {
        later(delay(), [this, index, request] {
            push({SubmitJob{request, kUser, clients_[index].request, fmt::format("key{}", index),
                            false},
                  {}});
        });
    }
    later(kClientTimeout, [this, index] { submit(index); });
}

void FaultWorld::on_answer(std::size_t index, const Answer& answer) {
    Client& client = clients_[index];
    if (const auto* accepted = std::get_if<Submitted>(&answer)) {
        if (client.job && *client.job != accepted->job) {
            fail(fmt::format("submission {} became jobs {} and {}", index, client.job->value,
                             accepted->job.value));
        }
        client.job = accepted->job;
    } else if (client.job) {
        fail(fmt::format("submission {} was accepted as job {}, then refused", index,
                         client.job->value));
    }
    client.answered = true;
}

void FaultWorld::command() {
    const Client& client = clients_[random_.below(clients_.size())];
    if (!client.job) return;
    JobRef ref{.job = *client.job, .tasks = {}, .het_component = {}, .step = {}};
    RequestId request{next_request_++};
    constexpr JobVerb kVerbs[] = {JobVerb::Hold, JobVerb::Release, JobVerb::Requeue,
                                  JobVerb::Suspend, JobVerb::Resume};
    if (random_.chance(0.4)) {
        CancelJobs cancel{.request = request, .caller = kUser, .filter = {}};
        cancel.filter.jobs.push_back(ref);
        push({std::move(cancel), {}});
    } else {
        push({ControlJobs{request, kRoot, kVerbs[random_.below(std::size(kVerbs))], {ref}}, {}});
    }
}

// Without this, jobs that users have put aside would wait for ever.
void FaultWorld::look_after_held_jobs() {
    std::vector<JobRef> held, suspended;
    for (const auto& [id, job] : rows_.jobs()) {
        JobRef ref{.job = JobId{id}, .tasks = {}, .het_component = {}, .step = {}};
        if (job.state == JobState::Pending && job.priority == 0) held.push_back(ref);
        if (job.state == JobState::Suspended) suspended.push_back(ref);
    }
    auto control = [&](JobVerb verb, std::vector<JobRef> jobs) {
        if (jobs.empty()) return;
        push({ControlJobs{RequestId{next_request_++}, kRoot, verb, std::move(jobs)}, {}});
    };
    control(JobVerb::Release, std::move(held));
    control(JobVerb::Resume, std::move(suspended));
    later(Seconds{60}, [this] { look_after_held_jobs(); });
}

// ---- what the machines tell us

Script FaultWorld::script_of(JobId job) {
    return random_script(options_.seed, job);
}

// A run is executed once, unless a reboot swept it away before anybody heard of it; and a job runs
// in one place at a time, as far as the controller can see.
void FaultWorld::on_started(NodeIndex node, RunKey run) {
    log(fmt::format("node {} starts {}/{}", node.value, run.job, run.restarts));
    auto before = executions_.find(run);
    if (before != executions_.end() &&
        !(before->second.swept_away && before->second.node == node)) {
        fail(fmt::format("run {}/{} is executed twice", run.job, run.restarts));
    }
    executions_[run] = {node};
    // A node that is lost may still run, or even start, what runs elsewhere by now.
    auto given_up = [&](NodeIndex index, RunKey key) {
        const Node& there = cluster_->node(index);
        return there.down || !there.connected ||
               std::find(there.orphans.begin(), there.orphans.end(), run_of(key)) !=
                   there.orphans.end();
    };
    if (!cluster_ || given_up(node, run)) return;
    for (const auto& machine : machines_) {
        for (RunKey other : machine->running()) {
            if (other.job != run.job || other == run || given_up(machine->node(), other)) continue;
            fail(fmt::format("job {} starts on node {} while it still runs on node {}", run.job,
                             node.value, machine->node().value));
        }
    }
}

void FaultWorld::on_finished(NodeIndex node, RunKey run, ExitStatus exit) {
    log(fmt::format("node {} ends {}/{}", node.value, run.job, run.restarts));
    finished_[run] = exit;
}

void FaultWorld::on_swept_away(NodeIndex, RunKey run) {
    executions_[run].swept_away = true;
}

// ---- the end

bool FaultWorld::is_settled() {
    if (!calm_ || !cluster_ || !inbox_.empty() || !writing_.empty()) return false;
    for (const Client& client : clients_) {
        if (!client.answered) return false;
    }
    for (const auto& [id, job] : rows_.jobs()) {
        if (!is_finished(job.state) || is_completing(job)) return false;
    }
    for (const auto& machine : machines_) {
        if (!machine->runs_nothing() || !machine->registered()) return false;
    }
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        if (!may_take_jobs(cluster_->node(NodeIndex{i}))) return false;
    }
    return true;
}

void FaultWorld::check_the_end() {
    std::map<std::string, std::set<std::uint32_t>> by_key;
    for (const auto* jobs : {&rows_.jobs(), &rows_.forgotten()}) {
        for (const auto& [id, job] : *jobs) {
            check_job(job);
            by_key[job.idempotency_key].insert(job.array_job ? job.array_job->value : id);
        }
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        if (!clients_[i].answered) fail(fmt::format("submission {} was never answered", i));
        if (!clients_[i].job) continue;
        ++result_.accepted;
        const auto& jobs = by_key[fmt::format("key{}", i)];
        if (jobs.size() > 1) fail(fmt::format("submission {} became {} jobs", i, jobs.size()));
        if (jobs.contains(clients_[i].job->value))
            ++result_.ended;  // check_job() has seen it
        else
            fail(fmt::format("job {} is lost", clients_[i].job->value));
    }
    for (const auto& machine : machines_) {
        if (!machine->runs_nothing())
            fail(fmt::format("node {} still runs something", machine->node().value));
        if (!cluster_) return fail("the controller is down");
        const Node& node = cluster_->node(machine->node());
        if (!may_take_jobs(node)) {
            fail(fmt::format("node {} does not come back: {}{}", machine->node().value,
                             node.connected ? "" : "not connected ", node.down ? "down" : ""));
        }
    }
}

void FaultWorld::check_job(const Job& job) {
    if (!is_finished(job.state) || is_completing(job)) {
        return fail(fmt::format("job {} is still {} ({})", print_job_id(job),
                                state_name(shown_state(job)), reason_name(job.reason)));
    }
    if (job.state != JobState::Completed) return;
    auto run = finished_.find({job.id.value, job.restarts});
    if (run == finished_.end() || run->second.failed()) {
        fail(fmt::format("job {} is completed, but did not run to its end", job.id.value));
    }
}

}  // namespace sluice
