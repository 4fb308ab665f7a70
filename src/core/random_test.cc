// core/random_test.cc
//
// Random clusters and workloads: whatever happens, nothing is allocated twice, and once the faults
// stop every job ends. Also with a controller that loses its memory and restarts from its rows.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/job/verbs.h"
#include "core/schedule/scheduler.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

std::string random_line(int step) {
    int job = *rc::gen::inRange(0, step + 1);
    switch (*rc::gen::inRange(0, 21)) {
        case 0:
            return fmt::format("submit j{} nodes={} tasks={} mem={}", step, *rc::gen::inRange(1, 3),
                               *rc::gen::inRange(2, 5), *rc::gen::inRange(1, 400));
        case 1:
            return fmt::format("submit j{} gres=gpu:{}", step, *rc::gen::inRange(1, 3));
        case 2:
            return fmt::format("submit j{} array=0-{}%{}", step, *rc::gen::inRange(1, 9),
                               *rc::gen::inRange(0, 3));
        case 3:
            return fmt::format("submit j{} exclusive", step);
        case 4:
            return fmt::format("cancel j{}", job);
        case 5:
            return fmt::format("requeue j{}", job);
        case 6:
            return fmt::format("hold j{}", job);
        case 7:
            return fmt::format("release j{}", job);
        case 8:
            return fmt::format("submit j{} array=0-{} depend={}:j{}", step, *rc::gen::inRange(1, 9),
                               *rc::gen::element("afterany", "after", "afterany"), job);
        case 9:
            return fmt::format("submit j{} name=same depend=singleton", step);
        case 10:
            return fmt::format("submit j{} licenses=matlab:{}", step, *rc::gen::inRange(1, 3));
        case 11:
            return fmt::format("suspend j{}", job);
        case 12:
            return fmt::format("resume j{}", job);
        case 13:
            return "restart";
        case 14:
            return fmt::format("submit j{} partition=high cpus={}", step, *rc::gen::inRange(1, 5));
        case 15:
            return fmt::format("submit j{} cpus={} time=1", step, *rc::gen::inRange(1, 5));
        case 16:
            return fmt::format("at {}", step);
        case 17:
            return fmt::format("update j{} TimeLimit={}", job, *rc::gen::inRange(1, 9));
        case 18:
            return fmt::format("update j{} NumNodes=1", job);
        default:
            return "pass";
    }
}

std::string job_named_in(const std::string& line) {
    std::size_t at = line.rfind('j');
    return line.substr(at, line.find_first_not_of("0123456789", at + 1) - at);
}

bool is_known(Scenario& scenario, const std::string& name) {
    try {
        return scenario.cluster().find_job(scenario.job(name)) != nullptr;
    } catch (const std::out_of_range&) {
        return false;
    }
}

// The plan that was updated for touched nodes equals a plan made from scratch.
void compare_plans(Cluster& cluster, Time now) {
    std::vector<NodeIndex> touched = cluster.take_touched_nodes();
    cluster.refresh_layout();
    if (cluster.scheduler().is_planned) {
        Planner kept = cluster.scheduler().planner, fresh;
        kept.begin_anew(cluster, now, touched);
        fresh.reset(cluster, now);
        for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
            NodeIndex node{i};
            RC_ASSERT(kept.plan().is_closed(node) == fresh.plan().is_closed(node));
            for (int second : {0, 1, 2, 30, 59, 60, 61, 119, 3600, 40'000'000}) {
                Time then = now + Seconds{second};
                RC_ASSERT(kept.plan().window(node, kept.tick(then), 1).free ==
                          fresh.plan().window(node, fresh.tick(then), 1).free);
            }
        }
    }
    for (NodeIndex node : touched) (void)cluster.edit_node(node);  // they still are
}

// Every node answers every order it was given.
void answer_orders(Scenario& scenario, std::size_t& seen) {
    Effects answers;
    Cluster& cluster = scenario.cluster();
    const Effects orders(scenario.effects().begin() + static_cast<std::ptrdiff_t>(seen),
                         scenario.effects().end());
    seen = scenario.effects().size();
    for (const Effect& effect : orders) {
        if (const auto* order = std::get_if<TerminateJob>(&effect)) {
            apply(cluster, scenario.now(), NodeCleaned{order->node, order->run}, answers);
        }
    }
}

RC_GTEST_PROP(RandomCluster, NothingIsAllocatedTwiceAndEverythingEnds, ()) {
    Scenario scenario;
    auto preemption = *rc::gen::element<std::string>(
        "", "mode=GANG", "preempt=partition mode=REQUEUE", "preempt=partition mode=CANCEL",
        "preempt=partition mode=SUSPEND,GANG", "preempt=partition mode=REQUEUE,GANG");
    auto sharing = *rc::gen::element<std::string>("NO", "FORCE:2", "FORCE:3");
    preemption += *rc::gen::element<std::string>("", " limits");
    RC_ASSERT(
        scenario.run(fmt::format(
            "settings licenses=matlab:2 {}\nqos normal GrpJobs=3 GrpTRES=cpu=9,gres/gpu=2\nnodes "
            "n[1-3] cpus=4 mem=1000 gres=gpu:2\n"
            "partition low default tier=1 oversubscribe={}\npartition high tier=2\nsubmit j0\npass",
            preemption, sharing)) == "");
    std::size_t seen = 0;
    int steps = *rc::gen::inRange(1, 40);
    for (int step = 1; step <= steps; ++step) {
        std::string line = random_line(step);
        bool names_another = line.find(":j") != std::string::npos || !line.starts_with("submit");
        bool whole = line == "pass" || line == "restart" || line.starts_with("at");
        if (names_another && !whole && !is_known(scenario, job_named_in(line))) continue;
        if (line == "pass") compare_plans(scenario.cluster(), scenario.now());
        std::string trouble = scenario.run(line);
        RC_ASSERT(trouble.empty() || line.starts_with("update"));  // it may have ended
        if (*rc::gen::arbitrary<bool>()) answer_orders(scenario, seen);
        auto broken = broken_invariant(scenario.cluster());
        if (broken) RC_FAIL(line + ": " + *broken);
        const QosUse* counted = scenario.cluster().limits().find("normal");
        const LimitUse use = counted ? counted->all : LimitUse{};
        auto held = [&](const char* name) {
            return use.tres.contains(name) ? use.tres.at(name) : 0;
        };
        RC_ASSERT(use.running <= 3 && held("cpu") <= 9 && held("gres/gpu") <= 2);
    }
    // Release everything, let everything run and end.
    for (int round = 0; round < 400; ++round) {
        answer_orders(scenario, seen);
        Effects effects;
        std::vector<RunId> running;
        std::vector<JobRef> held;
        scenario.cluster().jobs().for_each([&](const Job& job) {
            if (is_live(job)) running.push_back({job.id, job.run.restarts, kBatchStep});
            if (job.state == JobState::Pending && job.priority == 0) {
                held.push_back({.job = job.id, .tasks = {}, .het_component = {}, .step = {}});
            }
        });
        apply(scenario.cluster(), scenario.now(),
              ControlJobs{RequestId{1}, {}, JobVerb::Release, held}, effects);
        for (const RunId& run : running) {
            auto job = scenario.cluster().find_job(run.job);
            for (const NodeShare& share : job->run.allocation->nodes) {
                apply(scenario.cluster(), scenario.now(), JobEnded{share.node, run, {}, {}},
                      effects);
            }
        }
        apply(scenario.cluster(), scenario.now(), Tick{}, effects);
        schedule(scenario.cluster(), scenario.now(), effects);
        for (const Effect& effect : effects) {
            if (const auto* order = std::get_if<TerminateJob>(&effect)) {
                Effects ignored;
                apply(scenario.cluster(), scenario.now(), NodeCleaned{order->node, order->run},
                      ignored);
            }
        }
        RC_ASSERT(!broken_invariant(scenario.cluster()));
    }
    scenario.cluster().jobs().for_each([](const Job& job) { RC_ASSERT(is_finished(job.state)); });
}

// Of two users each asks for anything about any job, with ranges of array tasks: what changes is
// the caller's own.
Event random_request(JobId job, const Caller& caller, RequestId request) {
    JobRef ref{.job = job, .tasks = {}, .het_component = {}, .step = {}};
    if (*rc::gen::arbitrary<bool>()) ref.tasks = TaskSet::parse("1-2").value();
    auto verb = static_cast<JobVerb>(*rc::gen::inRange(0, 8));
    switch (*rc::gen::inRange(0, 8)) {
        case 0:
            return ControlJobs{request, caller, verb, {ref}};
        case 1: {
            CancelJobs cancel{.request = request, .caller = caller, .filter = {}};
            cancel.filter.jobs = {ref};
            cancel.signal = *rc::gen::element(0, 10);
            return cancel;
        }
        case 2:
            return UpdateJob{request, caller, ref, {.priority = 0}};
        case 3:
            return WaitJob{request, caller, job, WaitFor::Allocated};
        case 4:
            return CompleteJob{request, caller, job, {}};
        case 5:
            return SetTrigger{
                request,
                caller,
                {.event = *rc::gen::element(TriggerEvent::JobEnded, TriggerEvent::JobTimeLimit),
                 .job = job,
                 .nodes = {},
                 .program = "/bin/true"}};
        case 6:
            return ClearTriggers{
                request, caller,
                *rc::gen::element(TriggerChoice{.job = job}, TriggerChoice{.id = 1},
                                  TriggerChoice{.user = UserId{1000}})};
        default:
            return CreateStep{request, caller, StepDemand{.job = job}};
    }
}

RC_GTEST_PROP(RandomUsers, NoRequestChangesTheJobOfAnotherUser, ()) {
    Scenario scenario;
    RC_ASSERT(scenario.run(R"(
        nodes  n[1-2] cpus=4
        submit a user=1000
        submit b user=1001
        submit c user=1000 salloc
        submit d user=1001 array=0-5 begin=60
        submit e user=1000 array=0-5%2
        pass
        submit f user=1001 interactive begin=60
    )") == "");
    Cluster& cluster = scenario.cluster();
    Settings settings = cluster.settings();
    settings.allow_user_triggers = true;
    cluster.apply_settings(std::make_shared<const Settings>(settings), scenario.now());
    for (int step = 0; step < 12; ++step) {
        (void)cluster.take_changes();
        const UserId user{*rc::gen::element(1000u, 1001u)};
        const JobId job{*rc::gen::inRange(1u, 12u)};
        const TriggerBook::List before = cluster.triggers().all();
        Effects effects;
        const RequestId request{100u + static_cast<std::uint32_t>(step)};
        apply(cluster, scenario.now(), random_request(job, {user, GroupId{1}}, request), effects);
        apply(cluster, scenario.now(), RequestDropped{request}, effects);
        for (const auto& changed : cluster.take_changes().jobs) RC_ASSERT(changed->user == user);
        for (const Trigger& each : before) {
            if (each.user != user) RC_ASSERT(cluster.triggers().find(each.id) != nullptr);
        }
        for (const Trigger& each : cluster.triggers().all()) {
            if (each.wanted.job) RC_ASSERT(cluster.job(*each.wanted.job).user == each.user);
        }
        for (const Effect& effect : effects) {
            if (const auto* order = std::get_if<TerminateJob>(&effect))
                RC_ASSERT(cluster.job(order->run.job).user == user);
            if (const auto* order = std::get_if<SignalJob>(&effect))
                RC_ASSERT(cluster.job(order->run.job).user == user);
        }
    }
}

}  // namespace
}  // namespace sluice
