// A job of salloc and the salloc that waits for its end: one that is gone leaves no job behind, one
// that comes back in time, or has not been listened to, keeps it.
#include <gtest/gtest.h>

#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr Caller kOwner{UserId{1000}, GroupId{100}};
constexpr RequestId kSalloc{500}, kAgain{501}, kStepRequest{502};

struct AllocatedWorld {
    Scenario scenario;
    Effects effects = {};
    Time now;

    explicit AllocatedWorld(const std::string& kind = "salloc") {
        EXPECT_EQ(scenario.run("nodes n1 cpus=4\nsubmit a cpus=4 time=600 " + kind +
                               "\npass\nexpect a running n1"),
                  "");
        now = scenario.now();
    }
    void apply_event(const Event& event) { apply(scenario.cluster(), now, event, effects); }
    void wait(RequestId request) {
        apply_event(WaitJob{request, kOwner, scenario.job("a"), WaitFor::Ended});
    }
    void pass_time(Seconds time, bool was_blocked = false) {
        now += time;
        if (was_blocked) apply_event(StoodStill{time});
        apply_event(Tick{});
    }
    JobState state() { return scenario.cluster().job(scenario.job("a")).state; }
};

TEST(JobOfSalloc, EndsWhenItsSallocIsGoneForAMinute) {
    AllocatedWorld job;
    job.wait(kSalloc);
    job.pass_time(Seconds{100});
    job.apply_event(RequestDropped{kSalloc});
    job.pass_time(Seconds{59});
    EXPECT_EQ(job.state(), JobState::Running);
    job.pass_time(Seconds{1});
    EXPECT_EQ(job.state(), JobState::Cancelled);
}

TEST(JobOfSalloc, EndsWhenItsSallocNeverHeardThatItHasStarted) {
    AllocatedWorld job;
    job.pass_time(Seconds{60});
    EXPECT_EQ(job.state(), JobState::Cancelled);
}

// Every signal makes salloc hang up and ask anew.
TEST(JobOfSalloc, StaysWhenItsSallocComesBack) {
    AllocatedWorld job;
    job.wait(kSalloc);
    job.apply_event(RequestDropped{kSalloc});
    job.pass_time(Seconds{1});
    job.wait(kAgain);
    job.pass_time(Seconds{57});
    job.apply_event(RequestDropped{kAgain});
    job.pass_time(Seconds{2});  // a minute after the first time
    EXPECT_EQ(job.state(), JobState::Running);
    job.wait(kSalloc);
    job.pass_time(Seconds{60});
    EXPECT_EQ(job.state(), JobState::Running);
}

TEST(JobOfSalloc, StaysWhenTheLossOfTheOldConnectionIsHeardLate) {
    AllocatedWorld job;
    job.wait(kSalloc);
    job.wait(kAgain);
    job.apply_event(RequestDropped{kSalloc});
    job.pass_time(Seconds{60});
    EXPECT_EQ(job.state(), JobState::Running);
}

TEST(JobOfSalloc, EndsAfterARestartUnlessItsSallocIsHeardOf) {
    for (bool lives : {false, true}) {
        AllocatedWorld job;
        job.wait(kSalloc);
        ASSERT_EQ(job.scenario.run("restart"), "");
        if (lives) job.wait(kAgain);
        job.pass_time(Seconds{60});
        EXPECT_EQ(job.state(), lives ? JobState::Running : JobState::Cancelled);
    }
}

TEST(JobOfSalloc, StaysWhileAStepRunsInIt) {
    AllocatedWorld job;
    StepDemand demand;
    demand.job = job.scenario.job("a");
    demand.name = "s";
    job.apply_event(CreateStep{kStepRequest, {UserId{0}, GroupId{0}}, demand});
    const RunId step{demand.job, 0, StepId{0}};
    job.pass_time(Seconds{60});
    EXPECT_EQ(job.state(), JobState::Running);
    job.apply_event(StepEnded{NodeIndex{0}, step, {0, 0, false}, true});
    EXPECT_EQ(job.state(), JobState::Running);
    job.pass_time(Seconds{60});
    EXPECT_EQ(job.state(), JobState::Cancelled);
}

// The disk was full for a while: no requests were accepted.
TEST(JobOfSalloc, IsGivenAnotherMinuteByAControllerThatDidNotListen) {
    AllocatedWorld job;
    job.pass_time(Seconds{100}, true);
    EXPECT_EQ(job.state(), JobState::Running);
    job.pass_time(Seconds{60});
    EXPECT_EQ(job.state(), JobState::Cancelled);
}

TEST(JobOfSalloc, StaysWithoutItWhenMadeForThat) {
    AllocatedWorld job("interactive");
    job.pass_time(Seconds{60});
    ASSERT_EQ(job.scenario.run("restart"), "");
    job.pass_time(Seconds{60});
    EXPECT_EQ(job.state(), JobState::Running);
}

constexpr Caller kOther{UserId{1001}, GroupId{100}};

struct PendingWorld {
    Scenario scenario;
    Effects effects = {};

    PendingWorld() {
        EXPECT_EQ(scenario.run("nodes n1 cpus=4\nsubmit a cpus=4 time=600 salloc begin=60"), "");
    }
    JobId job() const { return scenario.job("a"); }
    const Job& record() { return scenario.cluster().job(job()); }
    void apply_event(const Event& event) {
        effects.clear();
        apply(scenario.cluster(), scenario.now(), event, effects);
    }
};

TEST(WaitForJob, AnotherUserIsRefusedAndItsConnectionCancelsNothing) {
    PendingWorld world;
    for (WaitFor until : {WaitFor::Allocated, WaitFor::Ended}) {
        world.apply_event(WaitJob{kSalloc, kOther, world.job(), until});
        ASSERT_EQ(world.effects.size(), 1u);
        const auto* error = std::get_if<Error>(&std::get<Reply>(world.effects[0]).answer);
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code, ErrorCode::AccessDenied);
        world.apply_event(RequestDropped{kSalloc});
        EXPECT_EQ(world.record().state, JobState::Pending);
    }
}

// An administrator may look on; only the owner's connection carries the job.
TEST(WaitForJob, OnlyTheOwnersConnectionCancelsAPendingJob) {
    PendingWorld world;
    world.apply_event(WaitJob{kSalloc, kRoot, world.job(), WaitFor::Allocated});
    EXPECT_TRUE(world.effects.empty());
    world.apply_event(RequestDropped{kSalloc});
    EXPECT_EQ(world.record().state, JobState::Pending);
    world.apply_event(WaitJob{kAgain, kOwner, world.job(), WaitFor::Allocated});
    world.apply_event(RequestDropped{kAgain});
    EXPECT_EQ(world.record().state, JobState::Cancelled);
}

TEST(WaitForJob, AnotherUserDoesNotKeepADesertedJobAlive) {
    AllocatedWorld job;
    job.wait(kSalloc);
    job.apply_event(RequestDropped{kSalloc});
    job.pass_time(Seconds{59});
    job.apply_event(WaitJob{kAgain, kOther, job.scenario.job("a"), WaitFor::Ended});
    job.pass_time(Seconds{1});
    EXPECT_EQ(job.state(), JobState::Cancelled);
}

}  // namespace
}  // namespace sluice
