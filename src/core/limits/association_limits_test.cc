// core/limits/association_limits_test.cc: what jobs of associations may have, alone and together.
#include <gtest/gtest.h>

#include "core/limits/allowance.h"
#include "core/schedule/scheduler.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(AssociationLimits, OfEachJobKeepItWithTheirWord) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-4] cpus=8 mem=4000 gres=gpu:a40:2
        account   lab MaxWall=30 MaxTRES=cpu=4,mem=1000,gres/gpu=1,node=2 MaxTRESPerNode=cpu=3 MaxTRESMins=cpu=90
        member    1000 account=lab default
        submit    long  user=1000 cpus=2 time=31 mem=10
        submit    wide  user=1000 cpus=5 time=10 mem=10
        submit    tall  user=1000 cpus=4 time=10 mem=10
        submit    fat   user=1000 cpus=2 time=10 mem=1001
        submit    gpus  user=1000 cpus=2 time=10 mem=10 gres=gpu:2
        submit    many  user=1000 nodes=3 cpus=1 time=10 mem=10
        submit    costs user=1000 cpus=3 time=31 mem=10
        submit    right user=1000 cpus=3 time=30 mem=1000 gres=gpu:1
        pass
        expect    long  pending AssocMaxWallDurationPerJobLimit
        expect    wide  pending AssocMaxCpuPerJobLimit
        expect    tall  pending AssocMaxCpuPerNode
        expect    fat   pending AssocMaxMemPerJob
        expect    gpus  pending AssocMaxGRESPerJob
        expect    many  pending AssocMaxNodePerJobLimit
        expect    right running
        account   lab MaxWall=31
        pass
        expect    long  running
        expect    costs pending AssocMaxCpuMinutesPerJobLimit
        account   lab MaxTRESMins=cpu=93
        pass
        expect    costs running
    )");
}

TEST(AssociationLimits, AJobWithoutATimeLimitGetsMaxWall) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings  limits
        nodes     n1 cpus=8
        account   lab MaxWall=30
        member    1000 account=lab default
        submit    a user=1000
    )"),
              "");
    EXPECT_EQ(scenario.cluster().job(scenario.job("a")).time_limit, TimeLimit{Minutes{30}});
}

TEST(AssociationLimits, OfAnAccountAreSharedByItsUsersAndGivenBack) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-2] cpus=8 gres=gpu:a40:4
        account   vision GrpTRES=gres/gpu=3 GrpJobs=2
        account   nlp
        member    1000 account=vision default
        member    1001 account=vision default
        member    1002 account=nlp default
        submit    a user=1000 gres=gpu:2 time=60
        submit    b user=1001 gres=gpu:2 time=60
        submit    c user=1001 gres=gpu:1 time=60
        submit    d user=1000 cpus=1     time=60
        submit    e user=1002 gres=gpu:4 time=60
        pass
        expect    a running
        expect    b pending AssocGrpGRES
        expect    c running
        expect    d pending AssocGrpJobsLimit
        expect    e running
        restart
        pass
        expect    d pending AssocGrpJobsLimit
        end       a
        pass
        expect    b running
        expect    d pending AssocGrpJobsLimit
        end       c
        pass
        expect    d running
    )");
}

TEST(AssociationLimits, OfParentsCountForAllBelow) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-4] cpus=8 mem=4000
        account   school GrpTRES=cpu=6,mem=100,node=2
        account   vision parent=school GrpTRES=cpu=4
        account   nlp    parent=school
        member    1000 account=vision default
        member    1001 account=nlp default
        submit    a user=1000 cpus=4 mem=10 nodelist=n1
        submit    b user=1000 cpus=1 mem=10
        submit    c user=1001 cpus=3 mem=10
        submit    d user=1001 cpus=2 mem=90 nodelist=n1
        pass
        expect    a running
        expect    b pending AssocGrpCpuLimit
        expect    c pending AssocGrpCpuLimit
        expect    d running
        end       a
        pass
        expect    c pending AssocGrpMemLimit
        end       d
        pass
        expect    c running
        expect    b running
        account   school GrpTRES=cpu=100,node=2
        submit    e user=1001 cpus=1 nodelist=n3
        submit    f user=1001 cpus=1 nodelist=n4
        pass
        expect    f pending AssocGrpNodeLimit
    )");
}

TEST(AssociationLimits, OfEachAssociationAreInheritedAndCountedApart) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-4] cpus=8
        account   lab MaxJobs=1 MaxSubmitJobs=2
        member    1000 account=lab default
        member    1001 account=lab default MaxJobs=2
        submit    a1 user=1000
        submit    a2 user=1000
        submit    a3 user=1000 refused=AssocMaxSubmitJobLimit
        submit    b1 user=1001
        submit    b2 user=1001
        pass
        expect    a1 running
        expect    a2 pending AssocMaxJobsLimit
        expect    b1 running
        expect    b2 running
        end       a1
        submit    a3 user=1000
        pass
        expect    a2 running
        expect    a3 pending AssocMaxJobsLimit
    )");
}

TEST(AssociationLimits, OnSubmissionsOfAGroupCountArraysByTask) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n1 cpus=8
        account   lab GrpSubmitJobs=3
        member    1000 account=lab default
        member    1001 account=lab default
        submit    a user=1000 array=0-3 refused=AssocGrpSubmitJobsLimit
        submit    b user=1000 array=0-1
        submit    c user=1001
        submit    d user=1001 refused=AssocGrpSubmitJobsLimit
        cancel    c
        submit    d user=1001
    )");
}

TEST(AssociationLimits, OfAPartitionAreThoseOfItsOwnAssociation) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-4] cpus=8
        partition p nodes=n[1-4] default
        partition q nodes=n[1-4]
        account   lab
        member    1000 account=lab default MaxJobs=1
        member    1000 account=lab partition=q MaxJobs=2
        submit    a user=1000
        submit    b user=1000
        submit    c user=1000 partition=q
        submit    d user=1000 partition=q
        submit    e user=1000 partition=q
        pass
        expect    a running
        expect    b pending AssocMaxJobsLimit
        expect    c running
        expect    d running
        expect    e pending AssocMaxJobsLimit
        end       a
        submit    f user=1000 partition=q,p
        pass
        expect    b running
        expect    f pending AssocMaxJobsLimit
        end       c
        end       d
        pass
        expect    e running
        expect    f running
    )");
}

TEST(AssociationLimits, OfAQosTakePrecedence) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       wide MaxJobsPerUser=2 GrpTRES=cpu=3
        nodes     n[1-4] cpus=8
        account   lab GrpTRES=cpu=1 GrpJobs=3 QOS=normal,wide
        member    1000 account=lab default MaxJobs=1
        submit    a user=1000 qos=wide
        submit    b user=1000 qos=wide
        submit    c user=1000 qos=wide
        submit    d user=1000
        pass
        expect    a running
        expect    b running
        expect    c pending QOSMaxJobsPerUserLimit
        expect    d pending AssocMaxJobsLimit
    )");
}

TEST(AssociationLimits, AreMultipliedByLimitFactorOfTheQos) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       twice Priority=1
        nodes     n[1-4] cpus=8
        account   lab GrpTRES=cpu=4 MaxTRES=cpu=3 GrpJobs=2 QOS=normal,twice
        member    1000 account=lab default
        qoslimit  twice LimitFactor=2000
        submit    a user=1000 qos=twice cpus=6
        submit    b user=1000 qos=twice cpus=2
        submit    c user=1000 qos=twice cpus=7
        submit    d user=1000 cpus=4
        pass
        expect    a running
        expect    b running
        expect    c pending AssocMaxCpuPerJobLimit
        expect    d pending AssocMaxCpuPerJobLimit
    )");
}

TEST(AssociationLimits, OfAQosMayBePercentagesOfTheCluster) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       half GrpTRES=cpu=50
        nodes     n[1-4] cpus=4
        qoslimit  half Flags=Relative
        submit    a qos=half cpus=4
        submit    b qos=half cpus=4
        submit    c qos=half cpus=1
        pass
        expect    a running
        expect    b running
        expect    c pending QOSGrpCpuLimit
    )");
}

TEST(AssociationLimits, OnWhatRunningJobsMayStillUseLoosenWithTime) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-4] cpus=8
        account   lab GrpTRESRunMins=cpu=120
        member    1000 account=lab default
        member    1001 account=lab default
        submit    a user=1000 cpus=2 time=50
        submit    b user=1001 cpus=1 time=21
        submit    c user=1001 cpus=1 time=20
        submit    d user=1001 cpus=1
        pass
        expect    a running
        expect    b pending AssocGrpCPURunMinutesLimit
        expect    c running
        expect    d pending AssocGrpCPURunMinutesLimit   # no limit counts as a year
        at        6
        expect    b pending AssocGrpCPURunMinutesLimit
        at        7
        expect    b running
    )");
}

TEST(AssociationLimits, OnWhatRunningJobsMayStillUseAreAlsoOfUsersAndAccountsOfAQos) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       q Priority=1
        nodes     n[1-4] cpus=8
        qoslimit  q MaxTRESRunMinsPU=cpu=60 MaxTRESRunMinsPA=cpu=90 UsageFactor=1000
        submit    a1 qos=q user=1000 account=x cpus=1 time=60
        submit    a2 qos=q user=1000 account=y cpus=1 time=1
        submit    b1 qos=q user=1001 account=x cpus=1 time=31
        submit    b2 qos=q user=1001 account=x cpus=1 time=30
        pass
        expect    a1 running
        expect    a2 pending QOSMaxTRESRunMinsPerUser
        expect    b1 pending MaxTRESRunMinsPerAccount
        expect    b2 running
        suspend   a1
        at        10
        resume    a1
        pass
        clock     +180
        pass
        expect    b1 pending MaxTRESRunMinsPerAccount
    )");
}

TEST(AssociationLimits, OnUsedMinutesWithSafeAreKeptForJobsThatRun) {
    EXPECT_SCENARIO(R"(
        settings  safe
        nodes     n[1-4] cpus=8
        account   lab GrpTRESMins=cpu=100
        member    1000 account=lab default
        submit    big user=1000 cpus=2 time=51
        submit    a   user=1000 cpus=2 time=40
        submit    b   user=1000 cpus=1 time=21
        submit    c   user=1000 cpus=1 time=20
        pass
        expect    big pending AssocGrpCPUMinutesLimit
        expect    a   running
        expect    b   pending AssocGrpCPUMinutesLimit
        expect    c   running
    )");
}

TEST(AssociationLimits, OnUsedMinutesKeepJobsWhenNothingIsLeft) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-4] cpus=8 gres=gpu:a40:2
        account   lab GrpTRESMins=cpu=1
        account   gone GrpTRESMins=gres/gpu=0
        account   late GrpWall=0
        member    1000 account=lab default
        member    1001 account=gone default
        member    1002 account=late default
        submit    a user=1000 cpus=8 time=600
        submit    b user=1001 gres=gpu:1
        submit    c user=1001
        submit    d user=1002
        pass
        expect    a running
        expect    b pending AssocGrpGRESMinutes
        expect    c running
        expect    d pending AssocGrpWallLimit
    )");
}

TEST(AssociationLimits, OnUsedMinutesEndJobsThatRun) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-4] cpus=8 gres=gpu:a40:2
        account   lab GrpTRESMins=gres/gpu=1
        member    1000 account=lab default
        submit    a user=1000 gres=gpu:1 time=600
        submit    b user=1000 time=600
        pass
        at        2
        expect    a running
        account   lab GrpTRESMins=gres/gpu=0
        at        3
        expect    a completing
        expect    b running
        restart
        at        4
        expect    b running
    )");
    EXPECT_SCENARIO(R"(
        settings  safe
        nodes     n1 cpus=8
        account   lab GrpTRESMins=cpu=600
        member    1000 account=lab default
        submit    a user=1000 time=600
        pass
        account   lab GrpTRESMins=cpu=0
        at        3
        expect    a running
    )");
}

TEST(AssociationLimits, MoveWithTheJob) {
    EXPECT_SCENARIO(R"(
        settings  limits
        qos       high Priority=1
        nodes     n[1-4] cpus=8
        partition p nodes=n[1-4] default
        partition q nodes=n[1-4]
        account   lab GrpJobs=1 QOS=normal,high
        account   overcap QOS=normal
        member    1000 account=lab default
        member    1000 account=overcap
        member    1001 account=lab default
        submit    a user=1000
        submit    b user=1000
        submit    c user=1001
        pass
        expect    b pending AssocGrpJobsLimit
        update    b Account=nosuch refused
        update    b QOS=nosuch refused
        update    b Account=overcap QOS=high refused
        update    b Account=Overcap
        pass
        expect    b running
        update    b Account=lab refused
        expect    c pending AssocGrpJobsLimit
        update    c Account=overcap refused
        end       a
        pass
        expect    c running
        submit    d user=1000 account=overcap hold
        update    d Account=lab QOS=high Partition=q
        release   d
        pass
        expect    d pending AssocGrpJobsLimit
        end       c
        pass
        expect    d running
    )");
}

TEST(AssociationLimits, BelowMinPrioThresholdNothingIsReserved) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings  limits
        qos       idle Priority=1
        nodes     n[1-2] cpus=4
        qoslimit  idle Flags=NoReserve
        account   lab QOS=normal,idle
        member    1000 account=lab default
        member    1001 account=lab default MinPrio=4294901000
        submit    first user=1000 cpus=4 nodes=1 time=60
        submit    a     user=1000 cpus=4 nodes=2 time=10 qos=idle
        submit    b     user=1000 cpus=4 nodes=1 time=600
        pass
        expect    first running
        expect    b     running     # `a` reserves nothing
    )"),
              "");
    const Cluster& cluster = scenario.cluster();
    const Partition& partition = cluster.partitions().front();
    Job job = cluster.job(scenario.job("b"));
    EXPECT_TRUE(may_reserve(cluster, job, partition.config));
    job.user = UserId{1001};
    EXPECT_EQ(may_reserve(cluster, job, partition.config),
              cluster.priorities().of(job) >= 4294901000u);
}

TEST(AssociationLimits, AreNotEnforcedWithoutTheWord) {
    EXPECT_SCENARIO(R"(
        settings  associations
        nodes     n[1-4] cpus=8
        account   lab GrpJobs=0 MaxSubmitJobs=0
        member    1000 account=lab default
        submit    a user=1000
        pass
        expect    a running
    )");
}

TEST(AssociationLimits, AreExplained) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings  limits
        nodes     n1 cpus=8
        account   lab GrpTRES=cpu=4
        member    1000 account=lab default
        member    1001 account=lab default MaxJobs=0
        submit    a user=1000 cpus=3 time=60
        submit    b user=1000 cpus=2 time=60
        submit    c user=1001 cpus=1 time=60
        pass
        expect    b pending AssocGrpCpuLimit
        expect    c pending AssocMaxJobsLimit
    )"),
              "");
    const Explanation b = scenario.why("2").value().front();
    ASSERT_EQ(b.partitions.size(), 1u);
    EXPECT_EQ(b.partitions[0].text, "account lab has GrpTRES=cpu=4, 3 in use, this one asks for 2");
    ASSERT_EQ(b.partitions[0].holders.size(), 1u);
    EXPECT_EQ(b.partitions[0].holders[0].job, "1");
    const Explanation c = scenario.why("3").value().front();
    EXPECT_EQ(c.partitions[0].text, "user 1001 of account lab has MaxJobs=0, this one asks for 1");
}

TEST(AssociationLimits, EstimatedStartsWaitForThem) {
    EXPECT_SCENARIO(R"(
        settings  limits
        nodes     n[1-2] cpus=8
        account   lab GrpJobs=1
        member    1000 account=lab default
        member    1001 account=lab default
        submit    a user=1000 time=60
        submit    b user=1001 time=60
        submit    c user=1000 time=60
        pass
        expect    b pending AssocGrpJobsLimit starts=60
        expect    c pending AssocGrpJobsLimit starts=120
    )");
}

}  // namespace
}  // namespace sluice
