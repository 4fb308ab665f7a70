// PrologSlurmctld, EpilogSlurmctld, CompleteWait and InactiveLimit.
#include <gtest/gtest.h>

#include "testkit/count_effects.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

// The program of the job's current run has ended.
Effects end_program(Scenario& world, const std::string& name, bool failed = false) {
    const Job& job = world.cluster().job(world.job(name));
    Effects effects;
    apply(world.cluster(), world.now(),
          JobProgramEnded{{job.id, job.run.restarts, kBatchStep}, failed}, effects);
    return effects;
}

TEST(Configure, AJobIsLaunchedAfterItsPrologAndOnce) {
    Scenario world;
    ASSERT_EQ(world.run("settings ctldprolog\n nodes n[1-2]\n submit a\n pass\n"
                        " expect a configuring"),
              "");
    EXPECT_EQ(count_effects<LaunchBatch>(end_program(world, "a")), 1u);
    EXPECT_EQ(count_effects<LaunchBatch>(end_program(world, "a")), 0u);
    EXPECT_EQ(world.run("expect a running n1\n end a\n expect a completed"), "");
}

// The scenario checks what is known of singletons and limits against the jobs.
TEST(Configure, AJobThatIsNotLaunchedYetIsKnownAsStarted) {
    Scenario world;
    EXPECT_EQ(world.run("settings ctldprolog\n nodes n1\n submit a name=x depend=singleton\n pass\n"
                        " expect a configuring"),
              "");
}

TEST(Configure, AJobWhosePrologFailsIsRequeuedOrCancelled) {
    Scenario world;
    ASSERT_EQ(world.run("settings ctldprolog\n nodes n[1-2]\n submit a\n submit b salloc\n pass\n"
                        " expect a configuring\n expect b configuring"),
              "");
    end_program(world, "a", true);
    end_program(world, "b", true);
    EXPECT_EQ(world.run("clean a n1\n clean b n2\n expect b cancelled"), "");
    EXPECT_EQ(world.cluster().job(world.job("a")).run.restarts, 1u);
}

TEST(Configure, AfterSomeRestartsItIsHeld) {
    Scenario world;
    ASSERT_EQ(world.run("settings ctldprolog\n nodes n1\n submit a\n pass"), "");
    const std::uint32_t most = world.cluster().settings().max_batch_requeue;
    for (std::uint32_t i = 0; i <= most; ++i) {
        ASSERT_EQ(world.run("expect a configuring"), "") << i;
        end_program(world, "a", true);
        ASSERT_EQ(world.run("clean a n1\n at " + std::to_string(10 * (i + 1)) + "\n pass"), "");
    }
    EXPECT_EQ(world.run("expect a pending JobHeldUser"), "");
}

TEST(Configure, ARestartedControllerRunsThePrologAgain) {
    Scenario world;
    ASSERT_EQ(world.run("settings ctldprolog\n nodes n1\n submit a\n pass\n restart\n at 1\n"
                        " expect a configuring"),
              "");
    EXPECT_EQ(count_effects<LaunchBatch>(end_program(world, "a")), 1u);
    EXPECT_EQ(world.run("expect a running n1"), "");
}

TEST(Configure, AJobThatIsCancelledMeanwhileDoesNotStart) {
    Scenario world;
    ASSERT_EQ(world.run("settings ctldprolog\n nodes n1\n submit a\n pass\n cancel a\n clean a n1\n"
                        " expect a cancelled"),
              "");
    EXPECT_EQ(end_program(world, "a").size(), 0u);
}

TEST(Configure, TheEpilogRunsOnceWhenTheNodesAreClean) {
    Scenario world;
    ASSERT_EQ(world.run("settings ctldepilog\n nodes n[1-2] cpus=1\n submit a nodes=2 tasks=2\n"
                        " pass\n expect a running\n cancel a\n clean a n1"),
              "");
    Effects effects;
    apply(world.cluster(), world.now(), NodeCleaned{NodeIndex{1}, {world.job("a"), 0, kBatchStep}},
          effects);
    ASSERT_EQ(count_effects<RunJobProgram>(effects), 1u);
    EXPECT_FALSE(std::get<RunJobProgram>(effects.front()).prolog);
    EXPECT_EQ(world.run("expect a cancelled"), "");
}

TEST(CompleteWait, NoJobStartsWhileAnotherCompletes) {
    for (const bool waits : {true, false}) {
        Scenario world;
        ASSERT_EQ(world.run(std::string("settings completewait=") + (waits ? "5" : "0") +
                            "\n nodes n[1-2]\n submit a nodes=2\n pass\n cancel a\n clean a n1\n"
                            " submit b\n pass"),
                  "");
        EXPECT_EQ(world.run(waits ? "expect b pending" : "expect b running n1"), "");
        EXPECT_EQ(world.run("at 4"), "");
        EXPECT_EQ(world.run(waits ? "expect b pending" : "expect b running n1"), "");
        EXPECT_EQ(world.run("at 6\n expect b running n1"), "");
    }
}

TEST(CompleteWait, TheEndOfTheCompletionEndsIt) {
    Scenario world;
    EXPECT_EQ(world.run("settings completewait=5\n nodes n[1-2]\n submit a nodes=2\n pass\n"
                        " cancel a\n clean a n1\n submit b\n pass\n expect b pending\n"
                        " clean a n2\n pass\n expect b running"),
              "");
}

TEST(InactiveLimit, SaysHowLongASallocMayBeGone) {
    for (const int minutes : {0, 3}) {
        Scenario world;
        const std::string limit = std::to_string(minutes);
        ASSERT_EQ(world.run("settings inactive=" + limit +
                            "\n nodes n1\n submit a salloc\n pass\n expect a running"),
                  "");
        EXPECT_EQ(world.run(minutes == 0 ? "at 2\n expect a completing"
                                         : "at 2\n expect a running\n at 4\n expect a completing"),
                  "");
    }
}

}  // namespace
}  // namespace sluice
