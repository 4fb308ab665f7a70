// sim/faults/fault_steps.cc
//
// An srun asks the controller for a step, brings it to its nodes itself, and cancels it when one of
// them does not take it. Its question is repeated with the same key when the connection breaks.
#include <fmt/format.h>

#include "model/hostlist.h"
#include "sim/faults/fault_world.h"
#include "sim/faults/workload.h"

namespace sluice {
namespace {

constexpr Seconds kAskAgain{10};
constexpr double kKilled = 0.05;  // while it waits for its step

}  // namespace

Dice& FaultWorld::dice_of_sruns(const JobKey& job) {
    return dice("sruns " + to_string(batch_of(job)));
}

void FaultWorld::plan_sruns(const JobKey& job, Srun::Home home, std::size_t place, Seconds span) {
    Dice& random = dice_of_sruns(job);
    std::size_t count = random.chance(0.5) ? 0 : 1 + random.below(4);
    for (std::size_t i = 0; i < count; ++i) {
        auto srun = std::make_shared<Srun>(Srun{.job = job, .home = home, .place = place});
        if (random.chance(0.1)) srun->home = Srun::Home::Elsewhere;
        srun->key = fmt::format("srun{}", next_srun_++);
        srun->demand = random_step(random, job.job);
        srun->demand.key = srun->key;
        later(Seconds{random.between(0, span.count())}, [this, srun] { create_step(srun); });
        if (random.chance(kKilled))
            later(Seconds{random.between(0, span.count())}, [this, srun] { give_up(srun); });
    }
    if (count > 0) busy_.push_back(job);
}

bool FaultWorld::lives(const Srun& srun) const {
    if (srun.gone) return false;
    if (srun.home == Srun::Home::Script) return machines_[srun.place]->runs({srun.job, kBatchStep});
    return srun.home == Srun::Home::Elsewhere || !clients_[srun.place].gone;
}

void FaultWorld::create_step(const SrunPtr& srun) {
    if (srun->step) return;
    if (!lives(*srun)) return give_up(srun);
    bool stopped = srun->home == Srun::Home::Script &&
                   machines_[srun->place]->is_stopped({srun->job, kBatchStep});
    if (stopped || is_heard(srun->request))
        return later(kAskAgain, [this, srun] { create_step(srun); });
    hang_up_on(srun->request);
    Caller caller{UserId{0}, GroupId{0}};
    srun->request = ask(
        "step",
        [srun, caller](RequestId request) {
            return CreateStep{request, caller, srun->demand};
        },
        [this, srun](const Answer& answer) { on_step_answer(srun, answer); }, kLostMessage);
    later(kAskAgain, [this, srun] { create_step(srun); });
}

void FaultWorld::on_step_answer(const SrunPtr& srun, const Answer& answer) {
    if (srun->step || srun->gone) return;
    const auto* granted = std::get_if<StepGranted>(&answer);
    if (granted && !lives(*srun) && cluster_)
        push({RequestDropped{srun->request}, {}});  // found closed
    if (!granted || !lives(*srun)) {
        srun->gone = true;
        return;
    }
    srun->step = RunKey{{granted->job->id, granted->job->run.restarts}, granted->step->id};
    Hostlist names = Hostlist::parse(granted->step->node_names).value();
    for (const std::string& name : names.names()) srun->nodes.push_back(machine_named(name));
    ++result_.steps;
    srun->issued = answer_time_;
    later(delay(dice_of_sruns(srun->job)), [this, srun] { launch(srun); });
}

// One node after the other; if a node refuses the step, it ends on the others.
void FaultWorld::launch(const SrunPtr& srun) {
    if (!lives(*srun) && srun->home == Srun::Home::Script) return;  // its job goes with it
    for (std::size_t node : srun->nodes) {
        bool refused =
            !machines_[node]->is_up() || (!calm_ && dice_of_sruns(srun->job).chance(0.02));
        const HookJob job = hook_job(srun->step->job);
        if (!refused && machines_[node]->launch_step(*srun->step, job, srun->issued)) continue;
        log(fmt::format("srun cannot launch {} on node {}", to_string(*srun->step), node));
        for (std::size_t started : srun->nodes) {
            if (machines_[started]->is_up()) machines_[started]->kill_step(*srun->step);
        }
        return cancel_step(*srun->step);
    }
}

// Killed, or with the script that it was part of.
void FaultWorld::give_up(const SrunPtr& srun) {
    if (srun->gone || srun->step) return;
    srun->gone = true;
    hang_up_on(srun->request);
}

void FaultWorld::cancel_step(RunKey step) {
    CancelJobs cancel{.request = {}, .caller = {UserId{0}, GroupId{0}}, .filter = {}};
    cancel.filter.jobs.push_back(
        {.job = step.job.job, .tasks = {}, .het_component = {}, .step = step.step});
    auto done = std::make_shared<bool>(false);
    ask(
        "cancel step",
        [cancel](RequestId request) {
            CancelJobs event = cancel;
            event.request = request;
            return event;
        },
        [done](const Answer&) { *done = true; }, kLostMessage);
    later(kAskAgain, [this, step, done] {
        if (!*done) cancel_step(step);
    });
}

}  // namespace sluice
