// core/limits/allowance_test.cc: what jobs of a QOS may have, alone and together.
#include "core/limits/allowance.h"

#include <gtest/gtest.h>

#include "core/question.h"
#include "core/schedule/scheduler.h"
#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(QosLimits, OfEachJobKeepItWithTheirWord) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       small MaxWall=30 MaxTRESPerJob=cpu=4,mem=1000,gres/gpu=1,node=2 MaxTRESPerNode=cpu=3 MinTRES=cpu=2
        nodes     n[1-4] cpus=8 mem=4000 gres=gpu:a40:2
        submit    long  qos=small cpus=2 time=31 mem=10
        submit    wide  qos=small cpus=5 time=30 mem=10
        submit    tall  qos=small cpus=4 time=30 mem=10
        submit    fat   qos=small cpus=2 time=30 mem=2000
        submit    gpus  qos=small cpus=2 time=30 mem=10 gres=gpu:2
        submit    many  qos=small nodes=3 cpus=1 time=30 mem=10
        submit    tiny  qos=small cpus=1 time=30 mem=10
        submit    right qos=small cpus=3 time=30 mem=1000 gres=gpu:1
        submit    other qos=normal cpus=8 time=600 mem=4000 gres=gpu:2
        pass
        expect    long  pending QOSMaxWallDurationPerJobLimit
        expect    wide  pending QOSMaxCpuPerJobLimit
        expect    tall  pending QOSMaxCpuPerNode
        expect    fat   pending QOSMaxMemoryPerJob
        expect    gpus  pending QOSMaxGRESPerJob
        expect    many  pending QOSMaxNodePerJobLimit
        expect    tiny  pending QOSMinCpuNotSatisfied
        expect    right running
        expect    other running
        update    long  TimeLimit=30
        qos       small MaxTRESPerJob=cpu=-1 MaxTRESPerNode=cpu=-1
        pass
        expect    long  running
        expect    wide  running
        expect    tall  running
    )");
}

TEST(QosLimits, OfAllJobsAreSharedAndGivenBack) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       lab GrpTRES=gres/gpu=3 GrpJobs=2
        nodes     n[1-2] cpus=8 gres=gpu:a40:4
        submit    a qos=lab gres=gpu:2 time=60 user=1000
        submit    b qos=lab gres=gpu:2 time=60 user=1001
        submit    c qos=lab gres=gpu:1 time=60 user=1002
        submit    d qos=lab cpus=1     time=60 user=1003
        submit    e qos=normal gres=gpu:4 time=60
        pass
        expect    a running
        expect    b pending QOSGrpGRES
        expect    c running
        expect    d pending QOSGrpJobsLimit
        expect    e running
        end       a
        pass
        expect    b running
        expect    d pending QOSGrpJobsLimit
        restart
        pass
        expect    d pending QOSGrpJobsLimit
        end       c
        pass
        expect    d running
    )");
}

TEST(QosLimits, OfUsersAndAccountsAreEachTheirOwn) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       lab MaxTRESPerUser=cpu=4 MaxJobsPerUser=2 MaxTRESPerAccount=cpu=6
        nodes     n[1-4] cpus=8
        submit    a1 qos=lab cpus=3 user=1000 account=vision
        submit    a2 qos=lab cpus=2 user=1000 account=vision
        submit    a3 qos=lab cpus=1 user=1000 account=vision
        submit    a4 qos=lab cpus=1 user=1000 account=nlp
        submit    b1 qos=lab cpus=3 user=1001 account=vision
        submit    b2 qos=lab cpus=2 user=1001 account=vision
        pass
        expect    a1 running
        expect    a2 pending QOSMaxCpuPerUserLimit
        expect    a3 running
        expect    a4 pending QOSMaxCpuPerUserLimit
        expect    b1 pending MaxCpuPerAccount
        expect    b2 running
        qos       lab MaxTRESPerUser=cpu=-1
        pass
        expect    a4 pending QOSMaxJobsPerUserLimit
    )");
}

TEST(QosLimits, OfThePartitionComeFirstUnlessTheJobsOverrideThem) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       floating GrpTRES=cpu=4
        qos       wide     GrpTRES=cpu=8
        qos       over     GrpTRES=cpu=8 Flags=OverPartQOS
        nodes     n[1-4] cpus=8
        partition p nodes=n[1-4] default qos=floating
        partition q nodes=n[1-4]
        submit    a qos=wide cpus=3
        submit    b qos=wide cpus=3
        submit    c qos=wide cpus=3 partition=q
        submit    d qos=over cpus=8
        pass
        expect    a running
        expect    b pending QOSGrpCpuLimit
        expect    c running
        expect    d running
        submit    e qos=wide cpus=2 partition=p,q
        pass
        expect    e running
    )");
}

TEST(QosLimits, FlagsLiftBoundsOfThePartition) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       long  Flags=PartitionTimeLimit,PartitionMaxNodes
        qos       short Flags=PartitionTimeLimit MaxWall=90
        nodes     n[1-4] cpus=8
        partition p nodes=n[1-4] default maxtime=60 maxnodes=2
        submit    a qos=normal time=61
        submit    b qos=normal nodes=3 time=10
        submit    c qos=long   nodes=3 time=600
        submit    d qos=short  time=80
        submit    e qos=short  time=91
        pass
        expect    a pending PartitionTimeLimit
        expect    b pending PartitionNodeLimit
        expect    c running
        expect    d running
        expect    e pending QOSMaxWallDurationPerJobLimit
    )");
}

// What the last submission was warned of.
std::string warning_of(const Scenario& scenario) {
    const auto& answer = std::get<Reply>(scenario.effects().back()).answer;
    const auto& warnings = std::get<Submitted>(answer).warnings;
    return warnings.empty() ? "" : warnings.front();
}

TEST(QosLimits, AJobThatCanNeverRunIsWarnedOf) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings  limits
        qos       lim MaxTRESPerUser=cpu=4
        nodes     n[1-4] cpus=8
        partition main default
        partition lab qos=lim
        submit    a qos=lim cpus=5
    )"),
              "");
    EXPECT_EQ(warning_of(scenario),
              "the job can never run: QOS lim has MaxTRESPerUser=cpu=4, it asks for 5 "
              "(QOSMaxCpuPerUserLimit)");
    ASSERT_EQ(scenario.run("submit b qos=lim cpus=4"), "");  // it can, when others have ended
    EXPECT_EQ(warning_of(scenario), "");
    ASSERT_EQ(scenario.run("submit c partition=lab,main cpus=5"), "");  // in one of them
    EXPECT_EQ(warning_of(scenario), "");
    ASSERT_EQ(scenario.run("submit d partition=lab cpus=5"), "");
    EXPECT_NE(warning_of(scenario), "");
}

TEST(QosLimits, RefuseAtSubmissionByNumberAndWhereTheySaySo) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       few    MaxSubmitJobsPerUser=3
        qos       strict GrpTRES=cpu=4 MaxWall=30 Flags=DenyOnLimit
        qos       booked Flags=RequiresReservation
        nodes     n[1-4] cpus=8
        submit    a qos=few array=1-2
        submit    b qos=few array=1-2 refused=QOSMaxSubmitJobPerUserLimit
        submit    c qos=few
        submit    d qos=few refused=QOSMaxSubmitJobPerUserLimit
        submit    e qos=few user=1001
        cancel    c
        submit    f qos=few
        submit    g qos=strict cpus=5 time=10 refused=QOSGrpCpuLimit
        submit    h qos=strict cpus=4 time=31 refused=QOSMaxWallDurationPerJobLimit
        submit    i qos=strict cpus=4 time=30
        submit    j qos=strict cpus=4 time=30
        pass
        expect    i running
        expect    j pending QOSGrpCpuLimit
        update    j TimeLimit=40 NumCPUs=5 refused=QOSMaxWall
        submit    k qos=booked refused=qos
    )");
}

TEST(QosLimits, TasksOfArraysAndWholeNodesCount) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       lab MaxJobsPerUser=2 GrpTRES=cpu=12
        nodes     n[1-4] cpus=8
        submit    a qos=lab array=1-4 cpus=1 time=60
        pass
        expect    a pending QOSMaxJobsPerUserLimit
        submit    whole qos=lab exclusive cpus=1 user=1001 time=60
        submit    next  qos=lab exclusive cpus=1 user=1001 time=60
        pass
        expect    whole running
        expect    next pending QOSGrpCpuLimit
    )");
}

TEST(QosLimits, NodesCountOnceHoweverManyJobsAreOnThem) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       mine MaxTRESPerUser=node=1
        qos       two  GrpTRES=node=2
        nodes     n[1-4] cpus=4
        submit    a qos=mine cpus=2 time=60
        submit    b qos=mine cpus=1 time=60
        submit    c qos=mine cpus=2 time=60
        pass
        expect    a running n1
        expect    b running n1
        expect    c pending QOSMaxNodePerUserLimit
        end       a
        pass
        expect    c running n1
        submit    d qos=two nodes=2 cpus=1 time=60 exclude=n1
        submit    e qos=two nodes=2 cpus=1 time=60 exclude=n1
        submit    f qos=two nodes=3 cpus=1 time=60 exclude=n1
        submit    g qos=two cpus=4 time=60 exclude=n1
        pass
        expect    d running n[2-3]
        expect    e running n[2-3]
        expect    f pending QOSGrpNodeLimit
        expect    g pending QOSGrpNodeLimit
    )");
}

TEST(QosLimits, WhatIsBilledMayBeNothing) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       lab GrpTRES=billing=3
        nodes     n[1-4] cpus=8 gres=gpu:a40:2
        partition p nodes=n[1-4] default weights=gres/gpu=2
        submit    a qos=lab time=60
        submit    b qos=lab time=60
        pass
        end       a
        end       b
        submit    c qos=lab time=60 gres=gpu:1
        submit    d qos=lab time=60 gres=gpu:1
        pass
        expect    c running
        expect    d pending QOSGrpBilling
        end       c
        pass
        expect    d running
    )");
}

TEST(QosLimits, NobodyIsBookedOrPreemptedForInVain) {
    EXPECT_SCENARIO(R"(
        settings  limits preempt=partition mode=REQUEUE
        qos       lab MaxJobsPerUser=1
        nodes     n1 cpus=4
        partition low nodes=n1 tier=1 default
        partition high nodes=n1 tier=2
        submit    mine   qos=lab cpus=1 partition=high time=60
        submit    victim cpus=3 time=60
        pass
        submit    second qos=lab cpus=3 partition=high time=60
        pass
        expect    victim running
        expect    second pending QOSMaxJobsPerUserLimit starts=60
        submit    waits cpus=4 partition=high time=10 user=1001
        submit    third cpus=1 time=10
        pass
        expect    third pending
    )");
}

TEST(QosLimits, WhoHoldsWhatIsLimitedIsToldAndWhatWouldDo) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings  limits
        qos       lab MaxTRESPerUser=gres/gpu=3
        nodes     n[1-2] cpus=8 gres=gpu:a40:4
        submit    holds qos=lab gres=gpu:2 time=60
        submit    waits qos=lab gres=gpu:2 time=60
        pass
        expect    waits pending QOSMaxGRESPerUser starts=60
    )"),
              "");
    Explanation why = world.why("2").value().front();
    ASSERT_EQ(why.partitions.size(), 1u);
    EXPECT_EQ(why.partitions[0].text,
              "QOS lab has MaxTRESPerUser=gres/gpu=3, 2 in use, this one asks for 2");
    ASSERT_EQ(why.partitions[0].holders.size(), 1u);
    EXPECT_EQ(why.partitions[0].holders[0].job, "1");
    EXPECT_EQ(why.partitions[0].holders[0].amounts, (Tres{{"gres/gpu", 2}}));
    ASSERT_FALSE(why.now_if.empty());
    EXPECT_EQ(why.now_if[0].option, "--gres=gpu:1");
    EXPECT_EQ(world.run("submit changed qos=lab gres=gpu:1\n pass\n expect changed running"), "");
}

// Jobs of a class are decided together: jobs behind the limit cost nothing.
TEST(QosLimits, StartsAreForetoldInTheOrderOfTheQueue) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       lab MaxJobsPerUser=1
        nodes     n[1-4] cpus=8
        submit    a qos=lab time=10
        submit    b qos=lab time=20
        submit    c qos=lab time=30
        submit    d qos=lab time=30
        pass
        expect    b pending QOSMaxJobsPerUserLimit starts=10
        expect    c pending QOSMaxJobsPerUserLimit starts=30
        expect    d pending QOSMaxJobsPerUserLimit starts=60
    )");
}

TEST(QosLimits, AJobWithoutATimeLimitGetsMaxWall) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings  limits
        qos       debug MaxWall=30
        nodes     n1 cpus=4
        partition p default
        partition short maxtime=20
        submit    none qos=debug
        submit    less qos=debug partition=short
        submit    own  qos=debug time=10
        submit    more qos=debug time=31
        submit    free qos=normal
        pass
        expect    none running n1
        expect    more pending QOSMaxWallDurationPerJobLimit
    )"),
              "");
    auto limit_of = [&](const char* name) {
        return world.cluster().job(world.job(name)).time_limit;
    };
    EXPECT_EQ(limit_of("none"), TimeLimit{Minutes{30}});
    EXPECT_EQ(limit_of("less"), TimeLimit{Minutes{20}});
    EXPECT_EQ(limit_of("own"), TimeLimit{Minutes{10}});
    EXPECT_TRUE(limit_of("free").unlimited());
}

// Where a full pass is too dear for every event, a job that waits for a limit alone is looked at
// when another one gives room, also if none of its nodes was touched.
TEST(QosLimits, RoomIsUsedAtOnceBetweenFullPasses) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings  limits
        qos       one GrpJobs=1
        nodes     n[1-7000] cpus=1
        submit    a qos=one nodelist=n1 time=60
        submit    b qos=one nodelist=n2 time=60
        pass
        expect    a running n1
        expect    b pending QOSGrpJobsLimit
    )"),
              "");
    ASSERT_EQ(world.run("submit v nodes=7000 time=1\n submit w nodes=7000 time=2\n pass"), "");
    ASSERT_GT(world.cluster().scheduler().plan_steps, 20'000u) << "full passes are cheap";
    EXPECT_EQ(world.run("end a\n pass\n expect b running n2"), "");
}

// sbatch --test-only.
Answer tested(Scenario& world, std::uint32_t cpus, const std::string& nodes = "") {
    auto demand = std::make_shared<JobRequest>();
    demand->qos = "small";
    demand->shape.cpus_per_task = cpus;
    demand->shape.nodelist = nodes;
    demand->shape.mem_per_node = 1;
    return answer_to(*world.cluster().copy_for_questions(), world.now(),
                     SubmitJob{RequestId{1}, {UserId{1000}, GroupId{100}}, demand, {}, true});
}

TEST(QosLimits, ATestSaysThatAJobWouldNeverStart) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings  limits
        qos       small MaxTRESPerUser=cpu=2
        nodes     n[1-2] cpus=4
        down      n2
    )"),
              "");
    const Answer within = tested(world, 2), above = tested(world, 3), away = tested(world, 1, "n2");
    ASSERT_TRUE(std::holds_alternative<Submitted>(within));
    EXPECT_EQ(std::get<Submitted>(within).start_estimate, world.now());
    ASSERT_TRUE(std::holds_alternative<Error>(above));
    EXPECT_EQ(std::get<Error>(above).code, ErrorCode::QosPolicy);
    ASSERT_TRUE(std::holds_alternative<Error>(away));
    EXPECT_EQ(std::get<Error>(away).code, ErrorCode::NodesBusy);
    EXPECT_EQ(world.run("submit a qos=small cpus=3\n pass\n expect a pending"), "");
}

}  // namespace
}  // namespace sluice
