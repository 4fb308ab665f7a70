// core/schedule/plan_property_test.cc
//
// What a plan promises, on random amounts and on random workloads.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/schedule/known_starts.h"
#include "core/schedule/plan.h"
#include "core/schedule/scheduler.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr PlanTime kHorizon = 60;

Amounts cpus(int count) {
    Amounts amounts;
    amounts[Amounts::kCpus] = count;
    return amounts;
}

// The plan against a table of every second.
RC_GTEST_PROP(Plan, AnswersAsATableOfEverySecondWould, ()) {
    Plan plan;
    plan.restart(from_unix(0), 1);
    int total = *rc::gen::inRange(1, 20);
    plan.set_free(NodeIndex{0}, cpus(total));
    std::vector<int> table(kHorizon, total);
    int changes = *rc::gen::inRange(0, 12);
    for (int i = 0; i < changes; ++i) {
        PlanTime from = *rc::gen::inRange(0, kHorizon), until = *rc::gen::inRange(0, kHorizon);
        int count = *rc::gen::inRange(1, 4);
        bool taken = *rc::gen::arbitrary<bool>();
        if (taken)
            plan.take(NodeIndex{0}, cpus(count), from, until);
        else
            plan.give(NodeIndex{0}, cpus(count), from, until);
        for (PlanTime t = from; t < until; ++t)
            table[static_cast<std::size_t>(t)] += taken ? -count : count;
    }
    PlanTime from = *rc::gen::inRange(0, kHorizon), length = *rc::gen::inRange(1, 30);
    int need = *rc::gen::inRange(1, total + 2);
    auto least = [&](PlanTime at) {
        int free = total;  // beyond the table
        for (PlanTime t = at; t < at + length; ++t)
            free = std::min(free, t < kHorizon ? table[static_cast<std::size_t>(t)] : total);
        return at + length <= kHorizon
                   ? *std::min_element(table.begin() + at, table.begin() + at + length)
                   : free;
    };
    PlanTime expected = from;
    while (expected < kHorizon && least(expected) < need) ++expected;
    if (least(expected) < need) expected = kForever;
    RC_ASSERT(plan.earliest(NodeIndex{0}, cpus(need), from, length) == expected);
    PlanTime before = *rc::gen::inRange(1, kHorizon + 5);
    PlanTime found = plan.earliest(NodeIndex{0}, cpus(need), from, length, before);
    bool too_late = expected >= before && found == kForever;
    RC_ASSERT(found == expected || too_late);
    Plan::Window window = plan.window(NodeIndex{0}, from, length);
    RC_ASSERT(window.free[Amounts::kCpus] == least(from));
    for (PlanTime t = from; t < std::min(window.same_until, kHorizon); ++t)
        RC_ASSERT(least(t) == least(from));
}

// Whatever was looked up and has changed since, the cache never makes a search skip a free node.
RC_GTEST_PROP(KnownStarts, NeverPromiseTooMuch, ()) {
    constexpr std::uint32_t kNodes = 3;
    Plan plan;
    plan.restart(from_unix(0), kNodes);
    for (std::uint32_t i = 0; i < kNodes; ++i) plan.set_free(NodeIndex{i}, cpus(16));
    KnownStarts known;
    int steps = *rc::gen::inRange(1, 60);
    for (int step = 0; step < steps; ++step) {
        NodeIndex node{*rc::gen::inRange(0u, kNodes)};
        PlanTime from = *rc::gen::inRange(0, kHorizon), until = *rc::gen::inRange(0, kHorizon);
        Amounts count = cpus(*rc::gen::inRange(1, 17));
        switch (*rc::gen::inRange(0, 6)) {
            case 0:
                plan.take(node, count, from, until);
                break;
            case 1:
                plan.give(node, count, from, until);
                break;
            case 2:
                plan.set_free(node, count);
                break;
            case 3:
                plan.close(node);
                break;
            default: {
                PlanTime length = *rc::gen::inRange(1, 30);
                KnownStarts::Page& page = known.page_for(plan, {count}, from, length);
                for (std::uint32_t i = 0; i < kNodes; ++i) {
                    PlanTime& not_before = page.not_before[i];
                    RC_ASSERT(not_before <= plan.earliest(NodeIndex{i}, count, from, length));
                    not_before =
                        plan.earliest(NodeIndex{i}, page.amounts[0], not_before, page.length);
                    RC_ASSERT(not_before <= plan.earliest(NodeIndex{i}, count, from, length));
                }
            }
        }
    }
}

class Workload {
public:
    Workload() {
        RC_ASSERT(scenario_.run("nodes n[1-4] cpus=4 gres=gpu:2\nsubmit j0 time=10\npass") == "");
    }

    // Whoever is first in line keeps its start or gets a better one, whatever comes after it.
    void step(int number) {
        std::string line = "pass";
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                line = fmt::format("at {}", minute_ += *rc::gen::inRange(1, 15));
                break;
            case 1:
                end_one();
                break;
            default: {
                int nodes = *rc::gen::inRange(1, 4);
                line = fmt::format("submit j{} nodes={} tasks={} time={} gres=gpu:{}", number,
                                   nodes, *rc::gen::inRange(nodes, 4 * nodes + 1),
                                   *rc::gen::inRange(1, 60), *rc::gen::inRange(0, 3));
            }
        }
        history_ += line + "\n";
        RC_ASSERT(scenario_.run(line) == "");
        clean();
        RC_ASSERT(scenario_.run("pass") == "");
        look_at_first();
    }

private:
    template <typename Visit>
    void for_each_in(JobState state, Visit visit) {
        scenario_.cluster().jobs().for_each([&](const Job& job) {
            if (job.state == state && !is_completing(job)) visit(job);
        });
    }

    void end_one() {
        std::vector<RunId> runs;
        std::vector<NodeIndex> heads;
        for_each_in(JobState::Running, [&](const Job& job) {
            runs.push_back({job.id, job.run.restarts, kBatchStep});
            heads.push_back(job.run.allocation->nodes.front().node);
        });
        if (runs.empty()) return;
        auto chosen = *rc::gen::inRange<std::size_t>(0, runs.size());
        Effects ignored;
        apply(scenario_.cluster(), scenario_.now(), JobEnded{heads[chosen], runs[chosen], {}, {}},
              ignored);
    }

    void clean() {
        std::vector<std::pair<NodeIndex, RunId>> left;
        scenario_.cluster().jobs().for_each([&](const Job& job) {
            for (NodeIndex node : job.run.completing_nodes)
                left.emplace_back(node, RunId{job.id, job.run.restarts, kBatchStep});
        });
        Effects ignored;
        for (const auto& [node, run] : left)
            apply(scenario_.cluster(), scenario_.now(), NodeCleaned{node, run}, ignored);
    }

    void look_at_first() {
        std::optional<JobId> first;
        for_each_in(JobState::Pending, [&](const Job& job) {
            if (!first) first = job.id;  // under priority/basic the earliest comes first
        });
        auto plan = scenario_.cluster().plan();
        const StartEstimate* estimate = first && plan ? plan->find(*first) : nullptr;
        if (first) RC_ASSERT(estimate != nullptr);
        if (first && first == before_ && estimate->start > promised_) {
            RC_FAIL(fmt::format("job {} was promised {} and is put off to {}\n{}", first->value,
                                to_unix(promised_), to_unix(estimate->start), history_));
        }
        before_ = first;
        if (estimate) promised_ = estimate->start;
    }

    Scenario scenario_;
    std::string history_;
    int minute_ = 0;
    std::optional<JobId> before_;
    Time promised_{};
};

RC_GTEST_PROP(Backfill, TheFirstInLineIsNeverPutOff, ()) {
    Workload workload;
    int steps = *rc::gen::inRange(1, 40);
    for (int step = 1; step <= steps; ++step) workload.step(step);
}

}  // namespace
}  // namespace sluice
