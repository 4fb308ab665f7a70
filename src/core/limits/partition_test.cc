// Access rules and limits of partitions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/job_keys.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(PartitionAccess, GroupsAreThoseOfTheSubmitterAndRootNeedsNone) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8
        partition open default
        partition lab groups=ml,bio
        submit    a partition=lab groups=users refused=group
        submit    b partition=lab refused=AllowGroups=ml,bio
        submit    c partition=lab groups=users,bio
        submit    d partition=lab user=0
        submit    e
        pass
        expect    c running n1
        expect    d running n1
    )");
}

TEST(PartitionAccess, AUserMovesAJobOnlyToWhereItCouldHaveBeenSent) {
    Scenario world;
    ASSERT_EQ(
        world.run("nodes n1\npartition open default\npartition lab groups=ml\nsubmit a hold\npass"),
        "");
    const JobId id = world.job("a");
    auto moved_by = [&](const Caller& caller) {
        Effects effects;
        const JobRef ref{.job = id, .tasks = {}, .het_component = {}, .step = {}};
        apply(world.cluster(), world.now(),
              UpdateJob{RequestId{1}, caller, ref,
                        parse_job_change({{"Partition", "lab"}}, {}).value()},
              effects);
        return world.cluster().job(id).partition;
    };
    EXPECT_EQ(moved_by({UserId{1000}, GroupId{100}, {"users"}}), "open");
    EXPECT_EQ(moved_by({UserId{1000}, GroupId{100}, {"ml"}}), "lab");
}

TEST(PartitionAccess, OfSeveralAUserNamesInAnUpdateThoseThatTakeTheJobAreKept) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\npartition open default\npartition more\npartition lab "
                        "groups=ml\nsubmit a hold\npass"),
              "");
    const JobId id = world.job("a");
    auto moved = [&](const char* partitions) {
        Effects effects;
        const JobRef ref{.job = id, .tasks = {}, .het_component = {}, .step = {}};
        const Caller owner{UserId{1000}, GroupId{100}, {"users"}};
        apply(world.cluster(), world.now(),
              UpdateJob{RequestId{1}, owner, ref,
                        parse_job_change({{"Partition", partitions}}, {}).value()},
              effects);
        return world.cluster().job(id).partition;
    };
    EXPECT_EQ(moved("lab,more"), "more");
    EXPECT_EQ(moved("lab,open,more"), "open,more");
    EXPECT_EQ(moved("open,nope"), "open,more");
}

TEST(PartitionAccess, AccountsAllowedAndDenied) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8
        partition paid accounts=grant
        partition rest denyaccounts=grant default
        submit    a partition=paid account=grant
        submit    b partition=paid account=own refused=account
        submit    c partition=rest account=grant refused=account
        submit    d partition=rest account=own
    )");
}

TEST(PartitionAccess, HostsRootAndReservations) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8
        partition open default norootjobs
        partition hosts hosts=login1
        partition root rootonly
        partition resv reqresv
        submit    a partition=hosts host=login2 refused=login2
        submit    b partition=hosts host=login1.example.org
        submit    c partition=root refused=root
        submit    d partition=root asroot
        submit    e partition=resv refused=--reservation
        submit    f user=0 refused=root
    )");
}

TEST(PartitionAccess, OfSeveralThoseThatDoNotTakeTheJobAreLeftOut) {
    constexpr std::string_view kPartitions = R"(
        nodes     n[1-6] cpus=1
        partition open nodes=n1 default
        partition lab nodes=n2 groups=ml
        partition root nodes=n3 rootonly
        partition paid nodes=n4 accounts=grant
        partition drained nodes=n5 state=DRAIN
        partition off nodes=n6 state=INACTIVE
    )";
    Scenario world;
    ASSERT_EQ(world.run(kPartitions), "");
    EXPECT_EQ(world.run(R"(
        submit    a partition=off,drained,paid,root,lab,open
        submit    b partition=drained,off,lab refused=drain
        submit    c partition=lab,drained refused=AllowGroups=ml
        submit    d partition=open,nope refused=nope
        submit    e partition=open,lab groups=ml
        pass
        expect    a running n1
        expect    e running n2
        submit    f partition=root,open
    )"),
              "");
    // What is not in its list is not tried, whatever that partition allows later.
    EXPECT_EQ(world.cluster().job(world.job("f")).partition, "open");
    Scenario strict;
    ASSERT_EQ(strict.run("settings enforce=all"), "");
    ASSERT_EQ(strict.run(kPartitions), "");
    EXPECT_EQ(strict.run("submit a partition=open,lab refused=AllowGroups=ml\nsubmit b "
                         "partition=open,lab groups=ml"),
              "");
}

TEST(PartitionAccess, AlternateStandsInWhileThePartitionTakesNoJobs) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=1
        partition old nodes=n1 state=DRAIN alternate=new default
        partition new nodes=n2
        partition gone nodes=n1 state=INACTIVE
        submit    a
        submit    b partition=gone refused=inactive
        pass
        expect    a running n2
    )");
}

TEST(PartitionLimits, MemoryPerCpuBeyondTheLimitBecomesMoreCpus) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 mem=8000
        partition p maxmemcpu=1000 default
        submit    a memcpu=2500
        submit    b mem=3000
        submit    c memcpu=500
        submit    d memcpu=9000 refused=CPU
        submit    e mem=9000 refused=CPU
        pass
        holds     a cpus=0-2 mem=2502
        holds     b cpus=3-5 mem=3000
        holds     c cpus=6 mem=500
    )");
}

TEST(PartitionLimits, MemoryPerNodeBeyondTheLimitIsNotHad) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 mem=8000
        partition p maxmemnode=4000 default
        submit    a mem=4001
        submit    b memcpu=1001 cpus=4
        submit    c memcpu=1000 cpus=4
        pass
        expect    a pending MaxMemPerLimit
        expect    b pending MaxMemPerLimit
        expect    c running n1
    )");
}

TEST(PartitionLimits, MaxCpusPerNodeIsForAllJobsOfThePartitionTogether) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8
        partition cpu maxcpus=6 default
        partition gpu
        submit    a cpus=4 time=60
        submit    b cpus=3 time=60
        submit    c cpus=2 time=60
        submit    d cpus=7 refused
        pass
        expect    a running n1
        expect    b pending Resources
        submit    e cpus=2 partition=gpu time=10
        pass
        expect    e running n1
        end       a
        pass
        expect    b running n1
    )");
}

TEST(PartitionLimits, MaxCpusPerSocket) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=4
        partition p maxsocketcpus=2 default
        submit    a tasks=4
        pass
        holds     a cpus=0-1,4-5
    )");
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=8 cores=4
        partition p maxsocketcpus=2 default
        submit    a tasks=6
        pass
        expect    a running n[1-2]
    )");
}

TEST(PartitionLimits, OfAnyOrOfAllOfAJobsPartitions) {
    for (const char* rule : {"any", "all"}) {
        Scenario scenario;
        EXPECT_EQ(scenario.run(fmt::format(R"(
            settings  enforce={0}
            nodes     n1
            partition short maxtime=10 default
            partition long
            submit    one  partition=short time=20 refused
            submit    both partition=short,long time=20 {1}
            submit    fits partition=short,long time=5
        )",
                                           rule, rule == std::string_view("all") ? "refused" : "")),
                  "");
    }
}

TEST(PartitionLimits, NodesAtLeastAndAtMost) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-4] cpus=1
        partition p minnodes=2 maxnodes=3 default
        submit    a
        submit    b nodes=4
        pass
        expect    a running n[1-2]
        expect    b pending PartitionNodeLimit
    )");
}

TEST(PartitionLimits, LeastLoadedNodesFirst) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=4
        partition p lln default
        submit    a
        pass
        submit    b
        pass
        expect    a running n1
        expect    b running n2
    )");
}

TEST(Exclusive, ANodeOfAUserIsForNobodyElse) {
    for (const char* owner : {"0", "7"}) {
        Scenario scenario;
        std::string text = R"(
            nodes   n1 cpus=4
            submit  a exclusive=user user=OWNER
            pass
            submit  theirs user=1000
            submit  mine   user=OWNER
            pass
            expect  theirs pending Resources
            expect  mine   running n1
            submit  later  user=1001
            pass
            expect  later  pending
            end     a
            end     mine
            pass
            expect  theirs running n1
            expect  later  running n1
        )";
        for (std::size_t at; (at = text.find("OWNER")) != text.npos;) text.replace(at, 5, owner);
        EXPECT_EQ(scenario.run(text), "") << "owner " << owner;
    }
}

TEST(PartitionLimits, ExclusiveNodesAndUsers) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=4
        partition whole nodes=n1 exclusive=NODE
        partition mine nodes=n2 exclusive=USER
        submit    a partition=whole
        submit    b partition=whole
        submit    c partition=mine user=1
        submit    e partition=mine user=1
        submit    d partition=mine user=2
        pass
        holds     a cpus=0-3
        expect    b pending
        expect    c running n2
        expect    d pending
        expect    e running n2
    )");
}

TEST(SystemCores, ArePartOfNoAllocation) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=2 threads=2 spec=1 mem=1000 memspec=200
        nodes     n2 cpus=4 speclist=0
        partition p default
        submit    a nodes=1 exclusive nodelist=n1 mem=800
        submit    b nodes=1 exclusive nodelist=n2
        submit    c tasks=7 nodes=1 nodelist=n1 refused
        submit    d mem=801 nodelist=n1 refused
        pass
        holds     a cpus=0-5 mem=800
        holds     b cpus=1-3
        node      n1 is allocated
    )");
}

TEST(SystemCores, CoreSpecOverridesTheNodes) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=4 spec=1
        nodes     n2 cpus=4
        submit    a corespec=0 nodelist=n1
        submit    b corespec=2 nodelist=n2
        submit    c nodelist=n2
        pass
        holds     a cpus=0-3
        holds     b cpus=0-1
        expect    c pending
    )");
}

TEST(SystemCores, ThreadSpecLeavesSingleThreads) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=2 threads=2 spec=1
        nodes     n2 cpus=4
        submit    a threadspec=3 nodelist=n1
        submit    b threadspec=1 nodelist=n2
        submit    c nodelist=n2
        submit    d threadspec=4 nodelist=n2 refused
        pass
        holds     a cpus=0-2,4-5
        holds     b cpus=0-2
        expect    c pending
    )");
}

TEST(DefMemPerGpu, OfThePartitionComesBeforeTheClusters) {
    EXPECT_SCENARIO(R"(
        settings  gpumem=100
        nodes     n[1-2] cpus=4 mem=1000 gres=gpu:a40:4
        partition own   gpumem=200 nodes=n1
        partition plain default
        submit    a gres=gpu:2 partition=own nomem
        submit    b gres=gpu:2 nomem nodelist=n2
        submit    c gres=gpu:2 mem=50 partition=own
        pass
        holds     a mem=400
        holds     b mem=200
        holds     c mem=50
    )");
}

// What was asked at submission is asked again when the owner changes it.
TEST(PartitionAccess, IsAskedAgainWhenTheOwnerChangesTheJob) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=4
        partition all default
        partition paid accounts=grant,other
        partition unpaid denyaccounts=grant
        partition own groups=staff
        partition near hosts=login
        partition kept reqresv
        submit    a partition=paid account=grant hold
        update    a by=1000 Account=free refused=account
        update    a by=1000 Account=other
        update    a by=1000 Partition=unpaid
        update    a by=1000 Account=grant refused=account
        update    a by=1000 Account=free
        update    a by=1000 Partition=paid refused=account
        update    a by=1000 Partition=own refused=group
        update    a by=1000 Partition=near refused=AllocNodes
        update    a by=1000 Partition=kept refused=reservation
        update    a by=0 Account=grant                          # an administrator may
        submit    b partition=paid account=grant
        pass
        expect    b running n1
        update    b by=1000 Account=free refused=pending         # while it runs: not at all
    )");
}

TEST(PartitionAccess, AllocNodesIsAboutTheHostOfTheConnection) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n1 cpus=4\npartition near hosts=login1,login2 default\n"
                           "submit a host=login2"),
              "");
    auto demand = std::make_shared<JobRequest>();
    demand->submit_host = "login1";  // as the client says
    Caller caller{UserId{1000}, GroupId{100}};
    caller.hosts = {"desk"};
    Effects effects;
    apply(scenario.cluster(), scenario.now(), SubmitJob{RequestId{9}, caller, demand, "", false},
          effects);
    EXPECT_TRUE(std::holds_alternative<Error>(std::get<Reply>(effects.at(0)).answer));
}

TEST(SpecResources, AreForClustersThatAllowThem) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2] cpus=4\nsubmit a corespec=1 hold\nsubmit b hold\n"
                           "update b CoreSpec=1"),
              "");
    Settings settings = scenario.cluster().settings();
    settings.allow_spec_resources = false;
    scenario.cluster().apply_settings(std::make_shared<const Settings>(settings), scenario.now());
    EXPECT_EQ(scenario.run("submit c corespec=1 refused=AllowSpecResourcesUsage\n"
                           "submit d threadspec=1 refused=AllowSpecResourcesUsage\n"
                           "update b CoreSpec=2 refused=AllowSpecResourcesUsage\n"
                           "update b TimeLimit=5"),
              "");
}

}  // namespace
}  // namespace sluice
