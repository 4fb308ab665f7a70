// srun --async: the number of a step is told before the step is created; swait waits for both.
#include <gtest/gtest.h>

#include "core/job/verbs.h"
#include "model/errors.h"
#include "testkit/step_world.h"

namespace sluice {
namespace {

constexpr std::string_view kFourCpus =
    "nodes n1 cpus=4\nsubmit a cpus=4 time=60\npass\nexpect a running n1";

struct AsyncWorld : StepWorld {
    AsyncWorld() : StepWorld(kFourCpus) {}

    std::optional<StepId> number(std::uint32_t tasks = 4) {
        const RequestId request = ask("", [&](StepDemand& demand) {
            demand.only_number = true;
            demand.ntasks = tasks;
        });
        const auto* told = std::get_if<StepNumbered>(answer_to(request));
        return told ? std::optional(told->step) : std::nullopt;
    }
    RequestId ask_numbered(StepId number) {
        return ask("", [&](StepDemand& demand) { demand.number = number; });
    }
    RequestId wait(std::optional<StepId> own_step = {}) {
        RequestId request{next_request++};
        apply_event(
            WaitJob{request, {UserId{0}, GroupId{0}}, job(), WaitFor::StepsEnded, own_step});
        return request;
    }
    void end(StepId step) { apply_event(StepEnded{kNode, run(step), {}}); }
    void pass_time(Seconds time) {
        apply(scenario.cluster(), scenario.now() + time, Tick{}, effects);
    }
};

TEST(AsyncSteps, EachHasTheNumberThatWasTold) {
    AsyncWorld world;
    const StepId first = *world.number(), second = *world.number();
    EXPECT_EQ(world.step_of(world.ask("plain")), StepId{2});
    const RequestId waits = world.ask_numbered(second);
    EXPECT_FALSE(world.answer_to(waits));
    world.end(StepId{2});
    EXPECT_EQ(world.step_of(waits), second);
    world.end(second);
    EXPECT_EQ(world.step_of(world.ask_numbered(first)), first);
    EXPECT_EQ(world.record().run.next_step, 3u);
}

TEST(AsyncSteps, NoNumberIsUsedTwiceOrInvented) {
    AsyncWorld world;
    const StepId number = *world.number();
    EXPECT_EQ(world.step_of(world.ask_numbered(number)), number);
    world.end(number);
    EXPECT_TRUE(world.is_refused(world.ask_numbered(number), ErrorCode::InvalidStepId));
    EXPECT_TRUE(world.is_refused(world.ask_numbered(StepId{1}), ErrorCode::InvalidStepId));
}

TEST(AsyncSteps, WhatTheJobHasNoRoomForGetsNoNumber) {
    AsyncWorld world;
    EXPECT_FALSE(world.number(5));
    EXPECT_EQ(world.record().run.next_step, 0u);
}

TEST(AsyncSteps, SwaitWaitsForThoseThatRunAndThoseThatWait) {
    AsyncWorld world;
    EXPECT_TRUE(world.answer_to(world.wait()));
    const StepId running = *world.number(), waiting = *world.number();
    const RequestId until = world.wait();
    world.ask_numbered(running);
    world.ask_numbered(waiting);
    EXPECT_FALSE(world.answer_to(until));
    world.end(running);
    EXPECT_FALSE(world.answer_to(until));
    world.end(waiting);
    EXPECT_TRUE(world.answer_to(until));
}

TEST(AsyncSteps, OneThatWaitsCanBeCancelled) {
    AsyncWorld world;
    world.ask("whole");
    const StepId number = *world.number();
    const RequestId waits = world.ask_numbered(number);
    const RequestId until = world.wait(StepId{0});
    CancelJobs cancel{.request = RequestId{world.next_request++},
                      .caller = {UserId{0}, GroupId{0}},
                      .filter = {}};
    cancel.filter.jobs = {{.job = world.job(), .tasks = {}, .het_component = {}, .step = number}};
    world.apply_event(cancel);
    EXPECT_TRUE(world.is_refused(waits, ErrorCode::JobFinished));
    EXPECT_TRUE(world.answer_to(until));
    // Before its process in the background has asked for it.
    const StepId told = *world.number();
    cancel.filter.jobs[0].step = told;
    world.apply_event(cancel);
    EXPECT_TRUE(world.answer_to(world.wait(StepId{0})));
    EXPECT_TRUE(world.is_refused(world.ask_numbered(told), ErrorCode::JobFinished));
}

TEST(AsyncSteps, SwaitInAStepDoesNotWaitForItself) {
    AsyncWorld world;
    const StepId own = *world.step_of(world.ask("own"));
    EXPECT_FALSE(world.answer_to(world.wait()));
    EXPECT_TRUE(world.answer_to(world.wait(own)));
}

TEST(AsyncSteps, SwaitDoesNotWaitForAnSrunThatIsGone) {
    AsyncWorld world;
    ASSERT_TRUE(world.number());
    const RequestId until = world.wait();
    world.pass_time(kNumberKept - Seconds{1});
    EXPECT_FALSE(world.answer_to(until));
    world.pass_time(kNumberKept);
    EXPECT_TRUE(world.answer_to(until));
}

TEST(AsyncSteps, SwaitWaitsForAnSrunThatWaitsForLong) {
    AsyncWorld world;
    world.ask("whole");
    const RequestId waits = world.ask_numbered(*world.number());
    const RequestId until = world.wait(StepId{0});
    world.pass_time(2 * kNumberKept);
    EXPECT_FALSE(world.answer_to(waits));
    EXPECT_FALSE(world.answer_to(until));
}

}  // namespace
}  // namespace sluice
