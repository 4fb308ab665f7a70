// core/job/step.cc
//
// Steps inside a job: granted, ended, recorded. A step that needs resources of the job that another
// step uses waits for them, unless it may overlap.
#include <algorithm>

#include "core/job/step_plan.h"
#include "core/job/verbs.h"
#include "core/permission.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "model/validate.h"

namespace sluice {

namespace {

// The step that an srun asked for before without getting the answer.
std::shared_ptr<const Step> step_of_key(const Job& job, const std::string& key) {
    for (const auto& step : job.run.steps) {
        bool same = !key.empty() && step->key == key;
        if (same && step->state == StepState::Running && !step->cancelled) return step;
    }
    return nullptr;
}

void grant(Cluster& cluster, Time now, RequestId request, std::shared_ptr<const Job> job,
           std::shared_ptr<const Step> step, Effects& effects) {
    await_launch(cluster, now, job->id, *step, request);
    effects.push_back(Reply{request, StepGranted{std::move(job), std::move(step)}});
}

// A job's record contains its steps. Steps that overlap are not bounded by the job's resources.
Result<void> check_record_size(const Job& job, const Step& added) {
    std::size_t cpus = 0;
    std::size_t running = 1;
    const auto count = [&](const Step& step) {
        for (const NodeShare& share : step.nodes) cpus += share.cpus.size() + 1;
    };
    count(added);
    for (const auto& step : job.run.steps) {
        if (step->state == StepState::Running) ++running;
        count(*step);
    }
    TRY(validate_list("running steps of a job", running, sizes::kRunningStepCount));
    TRY(validate_list("CPUs in all steps of a job", cpus, sizes::kStepCpuCount));
    return validate(added);
}

// Of a step that would fit if it were alone in the job.
bool tell_number(Cluster& cluster, Time now, RequestId request, const Job& job,
                 const StepDemand& demand, Effects& effects) {
    Result<StepPlan> alone = plan_step(cluster, job, {}, demand);
    if (alone && !alone->step) alone = Error{ErrorCode::TooManyCpus, {}};
    if (!alone) {
        effects.push_back(Reply{request, std::move(alone).error()});
        return true;
    }
    const StepId number{job.run.next_step};
    ++cluster.edit_job(job.id)->run.next_step;
    cluster.steps().keep_number(job.id, number, now + kNumberKept);
    cluster.add_timer({now + kNumberKept, TimerKind::Silence, job.id.value});
    effects.push_back(Reply{request, StepNumbered{number}});
    return true;
}

bool is_open_number(const Job& job, StepId number) {
    return number.value < job.run.next_step &&
           std::none_of(job.run.steps.begin(), job.run.steps.end(),
                        [&](const auto& step) { return step->id == number; });
}

// Answers now, or returns false: the step has to wait.
bool try_create(Cluster& cluster, Time now, RequestId request, const Caller& caller,
                const StepDemand& demand, Effects& effects) {
    auto job = cluster.find_job(demand.job);
    auto refuse = [&](ErrorCode code) {
        effects.push_back(Reply{request, Error{code, {}}});
        return true;
    };
    if (!job) return refuse(ErrorCode::InvalidJobId);
    if (auto allowed = permit(role_in(cluster, caller, *job), Action::CreateStep); !allowed)
        return refuse(allowed.error().code);
    if (job->state == JobState::Pending) return refuse(ErrorCode::JobPending);
    if (!is_live(*job)) return refuse(ErrorCode::JobFinished);
    if (auto known = step_of_key(*job, demand.key)) {
        grant(cluster, now, request, job, known, effects);
        return true;
    }
    if (demand.only_number) return tell_number(cluster, now, request, *job, demand, effects);
    if (demand.number && cluster.steps().is_cancelled(job->id, *demand.number))
        return refuse(ErrorCode::JobFinished);
    if (demand.number && !is_open_number(*job, *demand.number))
        return refuse(ErrorCode::InvalidStepId);
    if (job->state == JobState::Suspended)
        return demand.immediate ? refuse(ErrorCode::NodesBusy) : false;
    Result<StepPlan> plan = plan_step(cluster, *job, job->run.steps, demand);
    if (plan && !plan->step) {
        // Waiting is useful only if the step would fit without the job's other steps.
        Result<StepPlan> alone = plan_step(cluster, *job, {}, demand);
        if (alone && !alone->step) return refuse(ErrorCode::TooManyCpus);
        if (!alone) plan = std::move(alone);
    }
    if (!plan) {
        effects.push_back(Reply{request, std::move(plan).error()});
        return true;
    }
    if (!plan->step) return demand.immediate ? refuse(ErrorCode::NodesBusy) : false;
    if (Result<void> valid = check_record_size(*job, *plan->step); !valid) {
        effects.push_back(Reply{request, valid.error()});
        return true;
    }
    plan->step->start_time = now;
    plan->step->suspended_before = job->run.suspended;
    plan->step->key = demand.key;
    auto step = std::make_shared<const Step>(*std::move(plan->step));
    {
        const Edit<Job> changed = cluster.edit_job(job->id);
        if (!demand.number) ++changed->run.next_step;
        changed->run.steps.push_back(step);
        cluster.facts().step_changed(changed->id, changed->run.restarts, step);
    }
    set_step_clocks(cluster, cluster.job(job->id));
    grant(cluster, now, request, cluster.find_job(job->id), step, effects);
    return true;
}

bool try_answer(Cluster& cluster, Time now, const StepWaiter& waiter, Effects& effects) {
    const StepDemand& demand = waiter.demand;
    if (!try_create(cluster, now, waiter.request, waiter.caller, demand, effects)) return false;
    if (demand.number) cluster.steps().forget_number(demand.job, *demand.number);
    return true;
}

std::uint16_t severity(const ExitStatus& exit) {
    return static_cast<std::uint16_t>(exit.signal > 0 ? 128 + exit.signal : exit.code);
}

StepState step_state_of(const ExitStatus& exit) {
    if (exit.oom_killed) return StepState::OutOfMemory;
    return exit.failed() ? StepState::Failed : StepState::Completed;
}

// The step after one of its nodes has reported the end of its part. The step may have ended with
// its job before. A repeated report counts once.
std::shared_ptr<const Step> part_ended(const Cluster& cluster, Time now, const Step& step,
                                       const StepEnded& event) {
    auto changed = std::make_shared<Step>(step);
    if (std::erase(changed->nodes_left, event.node) > 0) {
        Usage usage = event.usage;
        usage.rss_max_node = cluster.node(event.node).config.name;
        add_usage(changed->usage, usage);
    }
    if (severity(event.exit) > severity(changed->exit)) changed->exit = event.exit;
    if (event.exit.oom_killed) changed->exit.oom_killed = true;
    if (changed->nodes_left.empty() && changed->state == StepState::Running) {
        changed->state = changed->timed_out ? StepState::Timeout : step_state_of(changed->exit);
        changed->end_time = now;
    } else if (event.exit.oom_killed && changed->state == StepState::Completed) {
        changed->state = StepState::OutOfMemory;
    }
    return changed;
}

// Records the report in the step, and what it means for the job.
void record_step_end(Cluster& cluster, Time now, JobId id, const StepEnded& event) {
    const Edit<Job> job = cluster.edit_job(id);
    for (auto& step : job->run.steps) {
        if (step->id != event.run.step) continue;
        const bool is_its_node =
            std::any_of(step->nodes.begin(), step->nodes.end(),
                        [&](const NodeShare& share) { return share.node == event.node; });
        if (!is_its_node) break;  // not a node of the step
        step = part_ended(cluster, now, *step, event);
        if (step->state != StepState::Running)
            cluster.facts().step_changed(job->id, job->run.restarts, step);
        if (step->id == kExternStep) return;  // what happens there is not the job's
        if (event.exit.oom_killed) job->run.derived_exit.oom_killed = true;
        const bool is_worst = severity(step->exit) > severity(job->run.derived_exit);
        if (step->state != StepState::Running && is_worst) {
            const bool out_of_memory = job->run.derived_exit.oom_killed;
            job->run.derived_exit = step->exit;
            job->run.derived_exit.oom_killed = out_of_memory;
        }
        break;
    }
    if (event.exit.oom_killed) on_step_out_of_memory(cluster, *job);
}

TerminateJob order_to_end(const Cluster& cluster, const Job& job, const Step& step,
                          NodeIndex node) {
    constexpr std::string_view kTimeLimit = " DUE TO TIME LIMIT ***";
    return {.node = node,
            .run = {job.id, job.run.restarts, step.id},
            .grace = cluster.settings().kill_wait,
            .reason_line = std::string(step.timed_out ? kTimeLimit : ""),
            .only_step = true};
}

// Ended steps do not influence decisions; a job with thousands of steps must not keep them all. For
// steps that were ended with the job, nodes still have to report their usage.
void drop_ended_steps(Cluster& cluster, JobId id) {
    constexpr std::size_t kEndedStepsKept = 64;
    const Job& job = cluster.job(id);
    if (!is_live(job) || job.run.steps.size() <= kEndedStepsKept) return;
    std::erase_if(cluster.edit_job(id)->run.steps,
                  [](const auto& step) { return step->state != StepState::Running; });
}

// A node that the job has given up may still report the end of its part of a step.
bool is_node_of(const Job& job, StepId id, NodeIndex node) {
    if (job.run.allocation && job.run.allocation->find(node)) return true;
    const auto has_node = [&](const NodeShare& share) { return share.node == node; };
    return std::any_of(job.run.steps.begin(), job.run.steps.end(), [&](const auto& step) {
        return step->id == id && std::any_of(step->nodes.begin(), step->nodes.end(), has_node);
    });
}

}  // namespace

void on_create_step(Cluster& cluster, Time now, const CreateStep& event, Effects& effects) {
    const auto job = cluster.find_job(event.demand.job);
    const bool must_wait = job && is_configuring(*job) &&
                           permit(role_in(cluster, event.caller, *job), Action::CreateStep);
    const StepWaiter waiter{event.request, event.caller, event.demand};
    if (must_wait || !try_answer(cluster, now, waiter, effects)) {
        if (const auto number = event.demand.number)
            cluster.steps().keep_number(event.demand.job, *number, now + kNumberKept);
        return cluster.steps().await(waiter);
    }
    answer_waiters(cluster, event.demand.job, WaitFor::StepsEnded, effects);
}

void retry_waiting_steps(Cluster& cluster, Time now, JobId id, Effects& effects) {
    cluster.steps().answer(
        id, [&](const StepWaiter& waiter) { return try_answer(cluster, now, waiter, effects); });
    answer_waiters(cluster, id, WaitFor::StepsEnded, effects);
}

bool cancel_waiting_step(Cluster& cluster, Time now, JobId id, StepId number, Effects& effects) {
    if (!cluster.steps().cancel_number(id, number)) return false;
    retry_waiting_steps(cluster, now, id, effects);
    return true;
}

void end_step(Cluster& cluster, JobId id, StepId which, StepEnding why, Effects& effects) {
    const Edit<Job> job = cluster.edit_job(id);
    for (auto& step : job->run.steps) {
        if (step->id != which || step->state != StepState::Running) continue;
        auto changed = std::make_shared<Step>(*step);
        changed->cancelled = true;
        changed->timed_out = changed->timed_out || why == StepEnding::TimeLimit;
        step = changed;
        for (NodeIndex node : changed->nodes_left)
            effects.push_back(order_to_end(cluster, *job, *changed, node));
    }
}

void reconcile_steps(Cluster& cluster, Time now, JobId id, const NodeRegistered& event,
                     bool other_boot, Effects& effects) {
    NodeIndex node = *cluster.find_node(event.node);
    const std::vector<RunId>& running = event.running;
    std::shared_ptr<const Job> job = cluster.find_job(id);
    for (const auto& step : job->run.steps) {
        bool left = std::find(step->nodes_left.begin(), step->nodes_left.end(), node) !=
                    step->nodes_left.end();
        if (step->state != StepState::Running || !left) continue;
        if (step->id == kExternStep && !step->cancelled) continue;  // see prepare_again()
        RunId run{id, job->run.restarts, step->id};
        bool known = std::find(running.begin(), running.end(), run) != running.end();
        // Otherwise its srun may be about to launch it.
        if (known) launch_is_here(cluster, node, run);
        bool is_old = now >= step->start_time + cluster.settings().cred_expire ||
                      event.facts.boot_time > step->start_time;
        bool lost = !known && (other_boot || is_old);
        if (!lost && !step->cancelled) continue;
        effects.push_back(order_to_end(cluster, *job, *step, node));
    }
}

void on_step_ended(Cluster& cluster, Time now, const StepEnded& event, Effects& effects) {
    auto found = cluster.find_job(event.run.job);
    if (!found || found->run.restarts != event.run.restarts) return;
    if (!is_node_of(*found, event.run.step, event.node)) return;
    record_step_end(cluster, now, found->id, event);
    cluster.steps().forget_ended(cluster.job(found->id));
    drop_ended_steps(cluster, found->id);
    retry_waiting_steps(cluster, now, found->id, effects);
    if (event.run.step == kExternStep)
        return node_is_prepared(cluster, now, found->id, event.node, effects);
    srun_may_be_gone(cluster, now, found->id, event.srun_lost, effects);
}

}  // namespace sluice
