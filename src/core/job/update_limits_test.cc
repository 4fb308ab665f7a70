// core/job/update_limits_test.cc: what a record may contain, by every way to change it.
#include <gtest/gtest.h>

#include "core/job/verbs.h"
#include "model/errors.h"
#include "model/job_keys.h"
#include "model/node_keys.h"
#include "model/sizes.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

class UpdateLimits : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(world_.run("nodes n[1-2] cpus=4 mem=1000\nsubmit waits hold time=60\n"
                             "submit runs time=60\npass\nexpect runs running"),
                  "");
    }

    // What the last reply says; empty: done.
    std::string answer_to(const Event& event, Time now) {
        Effects effects;
        apply(world_.cluster(), now, event, effects);
        for (const Effect& effect : effects) {
            const auto* reply = std::get_if<Reply>(&effect);
            const auto* error = reply ? std::get_if<Error>(&reply->answer) : nullptr;
            if (error) return to_string(*error);
        }
        return {};
    }
    std::string update(const KeyTexts& keys) {
        const JobRef ref{.job = world_.job("waits"), .tasks = {}, .het_component = {}, .step = {}};
        const Result<JobChange> change = parse_job_change(keys, world_.now());
        if (!change) return to_string(change.error());
        return answer_to(UpdateJob{RequestId{1}, kRoot, ref, *change}, world_.now());
    }
    const Job& job() { return world_.cluster().job(world_.job("waits")); }

    Scenario world_;
};

TEST_F(UpdateLimits, TextsAreThoseOfASubmission) {
    EXPECT_EQ(update({{"Comment", std::string(1024, 'x')}}), "");
    EXPECT_NE(update({{"Comment", std::string(1025, 'y')}}), "");
    EXPECT_NE(update({{"JobName", std::string("a\0b", 3)}}).find("JobName=a"), std::string::npos);
    EXPECT_NE(update({{"StdOut", std::string(4097, 'y')}}), "");
    EXPECT_NE(update({{"AdminComment", std::string(1025, 'y')}}), "");
    EXPECT_EQ(job().details->text(&JobDetails::comment), std::string(1024, 'x'))
        << "a refusal changes nothing";
}

TEST_F(UpdateLimits, TimeIsAddedUpToTheLimit) {
    EXPECT_NE(update({{"TimeLimit+", "71582788"}}), "") << "there were 60 minutes";
    EXPECT_EQ(job().time_limit, TimeLimit(Minutes{60}));
    EXPECT_EQ(update({{"TimeLimit+", "71582728"}}), "");
    EXPECT_EQ(job().time_limit, TimeLimit(Seconds{sizes::kTimeLimit}));
    EXPECT_NE(update({{"TimeLimit+", "1"}}), "");
}

TEST_F(UpdateLimits, NumbersAreThoseOfASubmission) {
    for (const char* key : {"NumTasks", "CPUsPerTask"}) {
        EXPECT_NE(update({{key, "1073741825"}}).find("1073741825"), std::string::npos) << key;
    }
    EXPECT_NE(update({{"MinMemoryNode", "99999999T"}}), "");
}

TEST_F(UpdateLimits, AClockThatIsSetBackSuspendsForNoTime) {
    const JobRef ref{.job = world_.job("runs"), .tasks = {}, .het_component = {}, .step = {}};
    const auto control = [&](JobVerb verb, Time now) {
        return answer_to(ControlJobs{RequestId{1}, kRoot, verb, {ref}}, now);
    };
    EXPECT_EQ(control(JobVerb::Suspend, world_.now()), "");
    EXPECT_EQ(control(JobVerb::Resume, world_.now() - Seconds{300}), "");
    EXPECT_EQ(world_.cluster().job(world_.job("runs")).run.suspended, Seconds{0});
    EXPECT_EQ(control(JobVerb::Suspend, world_.now()), "");
    EXPECT_EQ(control(JobVerb::Resume, world_.now() + Seconds{60}), "");
    EXPECT_EQ(world_.cluster().job(world_.job("runs")).run.suspended, Seconds{60});
}

TEST_F(UpdateLimits, StepsOfAJobAreBounded) {
    StepDemand demand{.job = world_.job("runs"), .name = "s"};
    demand.overlap = true;
    const auto create = [&] {
        return answer_to(CreateStep{RequestId{1}, kRoot, demand}, world_.now());
    };
    demand.name = std::string(1025, 'n');
    EXPECT_NE(create(), "");
    demand.name.pop_back();
    for (std::size_t step = 0; step < sizes::kRunningStepCount; ++step) ASSERT_EQ(create(), "");
    EXPECT_NE(create().find("running steps of a job: 4097 entries"), std::string::npos);
}

TEST_F(UpdateLimits, NodesHaveThem) {
    EXPECT_TRUE(parse_node_change({{"Reason", std::string(1024, 'r')}}));
    EXPECT_FALSE(parse_node_change({{"Reason", std::string(1025, 'r')}}));
}

TEST_F(UpdateLimits, AReservationEndsBeforeTheEndOfTime) {
    ReservationChange change{.name = "r"};
    change.start = world_.now();
    change.users = ListChange<UserId>{.items = {UserId{1000}}};
    change.nodes = ListChange<std::string>{.items = {"n1"}};
    change.flags_set = kResvIgnoreJobs;
    change.duration = Seconds{sizes::kSeconds};
    EXPECT_NE(answer_to(ChangeReservation{RequestId{1}, kRoot, change}, world_.now()), "");
    change.duration = Seconds{3600};
    EXPECT_EQ(answer_to(ChangeReservation{RequestId{1}, kRoot, change}, world_.now()), "");
}

}  // namespace
}  // namespace sluice
