#include <gtest/gtest.h>

#include "core/job/verbs.h"
#include "core/node/verbs.h"
#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr Caller kAnn{UserId{1000}, GroupId{100}};
constexpr Caller kBob{UserId{1001}, GroupId{100}};

// A small cluster, and the programs that its triggers have run.
class Triggers : public testing::Test {
protected:
    void SetUp() override {
        play("nodes n[1-4] cpus=2\n pass");
        Settings settings = world_.cluster().settings();
        settings.allow_user_triggers = true;
        world_.cluster().apply_settings(std::make_shared<const Settings>(settings), world_.now());
    }

    void play(const char* text) { ASSERT_EQ(world_.run(text), ""); }

    Answer ask(const Event& event) {
        Effects effects;
        apply(world_.cluster(), world_.now() + later_, event, effects);
        return std::get<Reply>(effects.back()).answer;
    }

    Answer set(TriggerEvent event, TriggerRequest wanted = {}, const Caller& caller = kRoot) {
        wanted.event = event;
        if (wanted.program.empty()) wanted.program = "/bin/tell";
        return ask(SetTrigger{RequestId{1}, caller, wanted});
    }

    Answer clear(const TriggerChoice& choice, const Caller& caller = kRoot) {
        return ask(ClearTriggers{RequestId{1}, caller, choice});
    }

    // What runs in the next seconds: "down n[1-2]".
    std::vector<std::string> run_in(int seconds) {
        later_ += Seconds{seconds};
        Effects effects;
        apply(world_.cluster(), world_.now() + later_, Tick{}, effects);
        std::vector<std::string> runs;
        for (const Effect& effect : effects) {
            if (const auto* run = std::get_if<RunTrigger>(&effect)) {
                runs.push_back(std::string(name_of(run->trigger.wanted.event)) + " " +
                               run->subject);
            }
        }
        EXPECT_EQ(broken_invariant(world_.cluster()), std::nullopt);
        return runs;
    }

    std::size_t count() { return world_.cluster().triggers().all().size(); }
    JobId job(const char* name) const { return world_.job(name); }

    Scenario world_;
    Seconds later_{0};
};

using Runs = std::vector<std::string>;

bool is_done(const Answer& answer) {
    return std::holds_alternative<Done>(answer);
}

ErrorCode refusal(const Answer& answer) {
    const auto* error = std::get_if<Error>(&answer);
    return error ? error->code : ErrorCode::None;
}

TEST_F(Triggers, NodesThatFailTogetherAreToldToOneProgramOnce) {
    EXPECT_TRUE(is_done(set(TriggerEvent::NodeDown)));
    play("down n1\n down n3\n down n2");
    EXPECT_EQ(run_in(0), Runs{});
    EXPECT_EQ(run_in(2), Runs{"down n[1,3,2]"});
    EXPECT_EQ(count(), 0u);
    play("back n1\n node n1 State=RESUME\n down n1");
    EXPECT_EQ(run_in(5), Runs{});
}

TEST_F(Triggers, APermanentOneRunsForEachEventAgain) {
    EXPECT_TRUE(is_done(set(TriggerEvent::NodeDown, {.permanent = true})));
    play("down n1");
    EXPECT_EQ(run_in(2), Runs{"down n1"});
    EXPECT_EQ(run_in(60), Runs{});
    play("node n1 State=RESUME\n down n1");
    EXPECT_EQ(run_in(2), Runs{"down n1"});
    EXPECT_EQ(count(), 1u);
}

TEST_F(Triggers, OtherNodesAndOtherEventsRunNothing) {
    set(TriggerEvent::NodeDown, {.nodes = "n[2-3]"});
    set(TriggerEvent::NodeUp, {.nodes = "n1"});
    set(TriggerEvent::NodeFailing, {.nodes = "n4"});
    play("down n1\n node n2 State=DRAIN Reason=x");
    EXPECT_EQ(run_in(5), Runs{});
    play("node n1 State=RESUME");
    EXPECT_EQ(run_in(2), Runs{"up n1"});
    play("node n4 State=FAIL Reason=x\n down n3");
    EXPECT_EQ(run_in(2), (Runs{"down n3", "fail n4"}));
}

TEST_F(Triggers, ADrainingNodeIsDrainedWhenItsJobsHaveEnded) {
    play("submit a nodelist=n1\n pass\n expect a running n1");
    set(TriggerEvent::NodeDraining);
    set(TriggerEvent::NodeDrained);
    set(TriggerEvent::NodeResumed);
    play("node n1 State=DRAIN Reason=x");
    EXPECT_EQ(run_in(2), Runs{"draining n1"});
    play("end a");
    EXPECT_EQ(run_in(2), Runs{"drained n1"});
    play("node n1 State=RESUME");
    EXPECT_EQ(run_in(2), Runs{"resume n1"});
}

TEST_F(Triggers, WhatWasBeforeTheTriggerIsNoEvent) {
    play("down n1\n node n2 State=DRAIN Reason=x");
    set(TriggerEvent::NodeDown);
    set(TriggerEvent::NodeDrained);
    play("node n1 Reason=y\n node n2 Reason=y");
    EXPECT_EQ(run_in(30), Runs{});
}

TEST_F(Triggers, TheOffsetDelaysTheProgram) {
    set(TriggerEvent::NodeDown, {.offset = Seconds{30}});
    play("down n1");
    EXPECT_EQ(run_in(29), Runs{});
    EXPECT_EQ(run_in(1), Runs{"down n1"});
}

TEST_F(Triggers, AnIdleNodeIsToldAfterTheOffset) {
    play("at 1\n submit a nodelist=n1\n pass\n expect a running n1");
    set(TriggerEvent::NodeIdle, {.nodes = "n1", .offset = Seconds{40}, .permanent = true});
    EXPECT_EQ(run_in(100), Runs{});  // it is in use
    later_ = Seconds{0};
    play("at 5\n end a");
    EXPECT_EQ(run_in(39), Runs{});
    EXPECT_EQ(run_in(1), Runs{});
    EXPECT_EQ(run_in(1), Runs{"idle n1"});
    EXPECT_EQ(run_in(100), Runs{}) << "once for each idle time";
    later_ = Seconds{0};
    play("at 10\n submit b nodelist=n1\n pass\n end b");
    EXPECT_EQ(run_in(40), Runs{});
    EXPECT_EQ(run_in(1), Runs{"idle n1"});
}

TEST_F(Triggers, TheEndOfAJob) {
    play("submit a\n submit b\n pass");
    set(TriggerEvent::JobEnded, {.job = job("a")});
    set(TriggerEvent::JobEnded, {.job = job("b"), .offset = Seconds{20}, .permanent = true});
    EXPECT_EQ(run_in(0), Runs{});
    play("end a\n end b");
    EXPECT_EQ(run_in(0), Runs{"fini 1"});
    EXPECT_EQ(run_in(19), Runs{});
    EXPECT_EQ(run_in(1), Runs{"fini 2"});
    EXPECT_EQ(count(), 0u);
    EXPECT_EQ(refusal(set(TriggerEvent::JobEnded, {.job = job("a")})), ErrorCode::JobFinished);
}

TEST_F(Triggers, TheTimeLimitMovesWithTheJob) {
    play("submit a time=10\n pass\n expect a running");
    set(TriggerEvent::JobTimeLimit, {.job = job("a"), .offset = Seconds{-120}});
    play("at 4");
    EXPECT_EQ(run_in(239), Runs{});
    later_ = Seconds{0};
    play("at 7\n update a TimeLimit=20\n at 11\n at 15\n at 17");
    EXPECT_EQ(run_in(59), Runs{});
    EXPECT_EQ(run_in(1), Runs{"time 1"});
    EXPECT_EQ(run_in(1), Runs{});
    EXPECT_EQ(count(), 0u);
}

TEST_F(Triggers, TheNodesOfAJob) {
    play("submit a nodelist=n2\n pass\n expect a running n2");
    set(TriggerEvent::NodeDown, {.job = job("a")});
    play("down n1");
    EXPECT_EQ(run_in(3), Runs{});
    play("down n2");
    EXPECT_EQ(run_in(3), Runs{"down n2"});
}

TEST_F(Triggers, ATriggerGoesWithItsJob) {
    play("submit a nodelist=n2\n pass");
    set(TriggerEvent::NodeDown, {.job = job("a")});
    set(TriggerEvent::JobTimeLimit, {.job = job("a")});
    play("end a");
    EXPECT_EQ(run_in(0), Runs{});
    EXPECT_EQ(count(), 0u);
}

TEST_F(Triggers, ReconfigurationAndServices) {
    set(TriggerEvent::Reconfigured);
    set(TriggerEvent::SlurmdbdFailed);
    play("settings licenses=matlab:2");
    EXPECT_EQ(run_in(2), Runs{"reconfig reconfig"});
    Effects effects;
    apply(world_.cluster(), world_.now(), ServiceChanged{TriggerEvent::SlurmdbdResumed}, effects);
    EXPECT_EQ(run_in(2), Runs{});
    apply(world_.cluster(), world_.now(), ServiceChanged{TriggerEvent::SlurmdbdFailed}, effects);
    EXPECT_EQ(run_in(2), Runs{"primary_slurmdbd_failure primary_slurmdbd_failure"});
}

TEST_F(Triggers, TheySurviveARestartAndRunOnce) {
    play("submit a nodelist=n2 time=60\n pass\n expect a running n2");
    set(TriggerEvent::NodeDown, {.offset = Seconds{30}});
    set(TriggerEvent::JobEnded, {.job = job("a")});
    set(TriggerEvent::NodeUp);
    play("down n1\n restart");
    EXPECT_EQ(count(), 3u);
    EXPECT_EQ(run_in(30), Runs{"down n1"});
    play("node n1 State=RESUME\n end a");
    EXPECT_EQ(run_in(2), (Runs{"fini 1", "up n1"}));
    play("restart");
    EXPECT_EQ(run_in(60), Runs{});
}

TEST_F(Triggers, OnlySlurmUserSetsThemUnlessItIsRoot) {
    EXPECT_TRUE(is_done(set(TriggerEvent::NodeDown, {}, kAnn)));
    auto settings = std::make_shared<Settings>(world_.cluster().settings());
    settings->slurm_user = kBob.user;
    Effects effects;
    apply(world_.cluster(), world_.now(), Reconfigure{{}, kRoot, settings}, effects);
    EXPECT_EQ(refusal(set(TriggerEvent::NodeUp, {}, kAnn)), ErrorCode::AccessDenied);
    EXPECT_EQ(refusal(set(TriggerEvent::NodeUp, {}, kRoot)), ErrorCode::AccessDenied);
    EXPECT_TRUE(is_done(set(TriggerEvent::NodeUp, {}, kBob)));
}

TEST_F(Triggers, AUserClearsOnlyItsOwn) {
    set(TriggerEvent::NodeDown, {}, kAnn);
    set(TriggerEvent::NodeUp, {}, kAnn);
    EXPECT_EQ(refusal(clear({.id = 1}, kBob)), ErrorCode::AccessDenied);
    EXPECT_EQ(refusal(clear({.user = kAnn.user}, kBob)), ErrorCode::AccessDenied);
    EXPECT_EQ(count(), 2u);
    EXPECT_EQ(refusal(clear({})), ErrorCode::BadArgument);
    EXPECT_EQ(refusal(clear({.id = 9})), ErrorCode::NotFound);
    EXPECT_TRUE(is_done(clear({.id = 2}, kAnn)));
    EXPECT_EQ(count(), 1u);
    EXPECT_TRUE(is_done(clear({.user = kAnn.user})));
    EXPECT_EQ(count(), 0u);
}

TEST_F(Triggers, AJobOfAnotherUserIsNotWatched) {
    play("submit a user=1000\n pass");
    EXPECT_EQ(refusal(set(TriggerEvent::JobEnded, {.job = job("a")}, kBob)),
              ErrorCode::AccessDenied);
    EXPECT_TRUE(is_done(set(TriggerEvent::JobEnded, {.job = job("a")}, kAnn)));
}

TEST_F(Triggers, WhatMakesNoSenseIsRefused) {
    const auto code = [&](TriggerEvent event, TriggerRequest wanted) {
        return refusal(set(event, std::move(wanted)));
    };
    EXPECT_EQ(code(TriggerEvent::JobEnded, {}), ErrorCode::BadArgument);
    EXPECT_EQ(code(TriggerEvent::JobEnded, {.job = JobId{99}}), ErrorCode::InvalidJobId);
    EXPECT_EQ(code(TriggerEvent::NodeDown, {.nodes = "n9"}), ErrorCode::InvalidNodeName);
    EXPECT_EQ(code(TriggerEvent::Reconfigured, {.nodes = "n1"}), ErrorCode::BadArgument);
    EXPECT_EQ(code(TriggerEvent::NodeDown, {.program = "bin/tell"}), ErrorCode::BadArgument);
    EXPECT_EQ(code(TriggerEvent::NodeDown, {.offset = Seconds{32001}}), ErrorCode::BadArgument);
    EXPECT_EQ(code(TriggerEvent::NodeDown, {.offset = Seconds{-32001}}), ErrorCode::BadArgument);
    EXPECT_EQ(code(TriggerEvent::NodeDown, {.offset = Seconds{32000}}), ErrorCode::None);
    EXPECT_EQ(code(TriggerEvent::NodeDown, {.offset = Seconds{32000}}),
              ErrorCode::DuplicateTrigger);
    EXPECT_EQ(count(), 1u);
}

}  // namespace
}  // namespace sluice
