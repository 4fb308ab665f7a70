// config/effects_test.cc: what a line of slurm.conf changes in the decisions of the core. Each test
// is named after its key or word, and tests/test_effects.py looks for it. Most run one scenario
// with the line and another without it, so that a line that changes nothing fails.
#include <gtest/gtest.h>

#include <csignal>

#include "config/settings.h"
#include "config/test_files.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

Scenario cluster_with(std::string_view lines) {
    const Config config = must_parse(
        "ClusterName=c\nSlurmctldHost=ctl\nSlurmdParameters=config_overrides\n"
        "BatchStartTimeout=100000\n"
        "GresTypes=gpu\nNodeName=n[1-4] CPUs=4 RealMemory=1000\n"
        "NodeName=g1 CPUs=8 RealMemory=1000 Gres=gpu:2\n"
        "PartitionName=all Nodes=n[1-4] Default=YES\nPartitionName=gpu Nodes=g1\n" +
        std::string(lines) + "\n");
    Result<Settings> settings = settings_from(config, UserId{0});
    if (settings) return Scenario(*std::move(settings));
    ADD_FAILURE() << settings.error().detail;
    return {};
}

struct Case {
    std::string_view lines;
    std::string with, without;  // scenarios
};

void expect_effect(const Case& each) {
    EXPECT_EQ(cluster_with(each.lines).run(each.with), "") << each.lines;
    EXPECT_EQ(cluster_with("").run(each.without), "") << "without " << each.lines;
}

std::uint32_t priority_of(Scenario& scenario, const std::string& job) {
    return scenario.cluster().job(scenario.job(job)).priority;
}

bool has_planned_start(Scenario& scenario, const std::string& job) {
    return scenario.cluster().plan() && scenario.cluster().plan()->find(scenario.job(job));
}

TEST(ConfigEffects, DefMemPerNode) {
    expect_effect({"DefMemPerNode=600", "submit a nomem\npass\nholds a mem=600",
                   "submit a nomem\npass\nholds a mem=1000"});
}

TEST(ConfigEffects, DefMemPerCPU) {
    expect_effect({"DefMemPerCPU=100", "submit a cpus=2 nomem\npass\nholds a mem=200",
                   "submit a cpus=2 nomem\npass\nholds a mem=1000"});
}

TEST(ConfigEffects, MaxMemPerCPU) {
    expect_effect({"MaxMemPerCPU=100", "submit a mem=400\npass\nholds a cpus=0-3",
                   "submit a mem=400\npass\nholds a cpus=0"});
}

TEST(ConfigEffects, MaxMemPerNode) {
    expect_effect({"MaxMemPerNode=500",
                   "submit a mem=501\nsubmit b mem=500\npass\nexpect a pending\nexpect b running",
                   "submit a mem=501\npass\nexpect a running"});
}

TEST(ConfigEffects, DefCpuPerGPU) {
    expect_effect({"DefCpuPerGPU=3", "submit a partition=gpu gpus=2 mem=1\npass\nholds a cpus=0-5",
                   "submit a partition=gpu gpus=2 mem=1\npass\nholds a cpus=0"});
}

TEST(ConfigEffects, DefMemPerGPU) {
    expect_effect({"DefMemPerGPU=100", "submit a partition=gpu gpus=2 nomem\npass\nholds a mem=200",
                   "submit a partition=gpu gpus=2 nomem\npass\nholds a mem=1000"});
}

TEST(ConfigEffects, FirstJobId) {
    Scenario scenario = cluster_with("FirstJobId=100");
    ASSERT_EQ(scenario.run("submit a"), "");
    EXPECT_EQ(scenario.job("a"), JobId{100});
}

TEST(ConfigEffects, MaxJobId) {
    Scenario scenario = cluster_with("FirstJobId=5\nMaxJobId=6");
    ASSERT_EQ(scenario.run("submit a\nsubmit b\ncancel a\nat 10\nsubmit c"), "");
    EXPECT_EQ(scenario.job("b"), JobId{6});
    EXPECT_EQ(scenario.job("c"), JobId{5});
}

TEST(ConfigEffects, MinJobAge) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = cluster_with(is_set ? "MinJobAge=60" : "");
        ASSERT_EQ(scenario.run("submit a\ncancel a\nat 2"), "");
        EXPECT_EQ(scenario.cluster().find_job(scenario.job("a")) == nullptr, is_set);
    }
}

TEST(ConfigEffects, MaxJobCount) {
    expect_effect({"MaxJobCount=1", "submit a\nsubmit b refused", "submit a\nsubmit b"});
}

TEST(ConfigEffects, MaxArraySize) {
    expect_effect({"MaxArraySize=10", "submit a array=1-10 refused\nsubmit b array=1-9",
                   "submit a array=1-10"});
}

TEST(ConfigEffects, MaxTasksPerNode) {
    expect_effect(
        {"MaxTasksPerNode=4",
         "submit a nodes=1 tasks=4 overcommit\nsubmit b nodes=1 tasks=5 overcommit refused",
         "submit b nodes=1 tasks=512 overcommit\nsubmit c nodes=1 tasks=513 overcommit refused"});
}

TEST(ConfigEffects, Licenses) {
    expect_effect({"Licenses=matlab:1",
                   "submit a licenses=matlab mem=1\nsubmit b licenses=matlab mem=1\npass\n"
                   "expect a running\nexpect b pending Licenses",
                   "submit a licenses=matlab refused"});
}

TEST(ConfigEffects, OverTimeLimit) {
    expect_effect({"OverTimeLimit=5",
                   "submit a time=1\npass\nat 5\nexpect a running\nat 7\nexpect a completing",
                   "submit a time=1\npass\nat 5\nexpect a completing"});
}

TEST(ConfigEffects, OverTimeLimitOfAPartition) {
    Scenario scenario = cluster_with(
        "OverTimeLimit=5\nPartitionName=own Nodes=n1 OverTimeLimit=10\n"
        "PartitionName=ever Nodes=n2 OverTimeLimit=UNLIMITED");
    EXPECT_EQ(scenario.run("submit a partition=own time=1\nsubmit b partition=ever time=1\n"
                           "pass\nat 10\nexpect a running\nat 12\nexpect a completing\n"
                           "expect b running"),
              "");
}

TEST(ConfigEffects, KillWait) {
    Scenario scenario = cluster_with("KillWait=77");
    ASSERT_EQ(scenario.run("submit a\npass\ncancel a"), "");
    std::vector<Seconds> graces;
    for (const Effect& effect : scenario.effects()) {
        if (const auto* order = std::get_if<TerminateJob>(&effect)) graces.push_back(order->grace);
    }
    EXPECT_EQ(graces, std::vector<Seconds>{Seconds{77}});
}

TEST(ConfigEffects, RequeueExit) {
    expect_effect({"RequeueExit=2-3,9",
                   "submit a\npass\nend a code=3\nexpect a pending\n"
                   "submit b\npass\nend b code=4\nexpect b failed\n"
                   "submit c norequeue\npass\nend c code=3\nexpect c failed",
                   "submit a\npass\nend a code=3\nexpect a failed"});
}

TEST(ConfigEffects, RequeueExitHold) {
    expect_effect({"RequeueExitHold=3",
                   "submit a\npass\nend a code=3\nexpect a special_exit JobHeldUser\nat 9\n"
                   "expect a special_exit JobHeldUser\nrelease a\nat 10\nexpect a running",
                   "submit a\npass\nend a code=3\nexpect a failed"});
}

TEST(ConfigEffects, BatchStartTimeout) {
    // Nobody confirms a launch in these scenarios.
    expect_effect({"BatchStartTimeout=60", "submit a\npass\nat 20\nexpect a completing",
                   "submit a\npass\nat 20\nexpect a running"});
}

TEST(ConfigEffects, EnforcePartLimits) {
    const std::string_view partition = "PartitionName=brief Nodes=n1 MaxTime=10\n";
    EXPECT_EQ(cluster_with(std::string(partition) + "EnforcePartLimits=ALL")
                  .run("submit a partition=brief time=11 refused\n"
                       "submit b partition=brief time=10"),
              "");
    EXPECT_EQ(cluster_with(partition).run("submit a partition=brief time=11\npass\n"
                                          "expect a pending PartitionTimeLimit"),
              "");
}

TEST(ConfigEffects, DisableRootJobs) {
    expect_effect({"DisableRootJobs=yes", "submit a user=0 refused\nsubmit b", "submit a user=0"});
}

TEST(ConfigEffects, SlurmdTimeout) {
    expect_effect({"SlurmdTimeout=60", "lost n1\nat 2\nshows n1 state=DOWN+NOT_RESPONDING",
                   "lost n1\nat 2\nshows n1 state=IDLE+NOT_RESPONDING"});
}

TEST(ConfigEffects, ReturnToService) {
    expect_effect({"ReturnToService=1",
                   "lost n1\nat 10\nshows n1 state=DOWN+NOT_RESPONDING\nback n1\n"
                   "shows n1 state=IDLE",
                   "lost n1\nat 10\nshows n1 state=DOWN+NOT_RESPONDING\nback n1\n"
                   "shows n1 state=DOWN"});
}

TEST(ConfigEffects, ResumeTimeout) {
    const std::string_view reboot = "RebootProgram=/sbin/reboot\n";
    EXPECT_EQ(cluster_with(std::string(reboot) + "ResumeTimeout=600")
                  .run("reboot n1\nat 9\nshows n1 state=DOWN+REBOOT_ISSUED\nat 11\n"
                       "shows n1 state=DOWN"),
              "");
    EXPECT_EQ(cluster_with(reboot).run("reboot n1\nat 2\nshows n1 state=DOWN"), "");
}

TEST(ConfigEffects, RebootProgram) {
    expect_effect({"RebootProgram=/sbin/reboot", "reboot n1\nshows n1 state=DOWN+REBOOT_ISSUED",
                   "reboot n1 refused"});
}

TEST(ConfigEffects, DownNodes) {
    expect_effect({"DownNodes=n1 State=DOWN Reason=fan",
                   "submit a nodelist=n1\npass\nshows n1 state=DOWN reason=fan\nexpect a pending",
                   "submit a nodelist=n1\npass\nexpect a running"});
}

TEST(ConfigEffects, NodeSet) {
    EXPECT_EQ(cluster_with("NodeSet=pair Nodes=n[2-3]\nPartitionName=few Nodes=pair")
                  .run("submit a partition=few nodes=2 mem=1\npass\nexpect a running n[2-3]\n"
                       "submit b partition=few nodes=3 refused"),
              "");
}

TEST(ConfigEffects, SchedulerType) {
    const std::string_view jobs =
        "submit a nodes=3 time=60 mem=1 exclusive\nsubmit wide nodes=4 time=10 mem=1 exclusive\n"
        "submit short nodes=1 time=30 mem=1\npass\n";
    expect_effect({"SchedulerType=sched/builtin", std::string(jobs) + "expect short pending",
                   std::string(jobs) + "expect short running n4"});
}

TEST(ConfigEffects, SelectType) {
    const std::string_view jobs = "submit a nodelist=n1 mem=1\nsubmit b nodelist=n1 mem=1\npass\n";
    expect_effect({"SelectType=select/linear", std::string(jobs) + "expect b pending",
                   std::string(jobs) + "expect b running n1"});
}

TEST(ConfigEffects, SelectTypeParameters) {
    const std::string_view jobs =
        "submit a nodelist=n1 mem=800\nsubmit b nodelist=n1 mem=800\npass\n";
    expect_effect({"SelectTypeParameters=CR_Core", std::string(jobs) + "expect b running n1",
                   std::string(jobs) + "expect b pending"});
}

TEST(ConfigEffects, PriorityFavorSmall) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = cluster_with(std::string("PriorityWeightJobSize=1000\n") +
                                         (is_set ? "PriorityFavorSmall=yes" : ""));
        ASSERT_EQ(scenario.run("submit big nodes=4\nsubmit small nodes=1"), "");
        EXPECT_EQ(priority_of(scenario, "small") > priority_of(scenario, "big"), is_set);
    }
}

// User 1001 of the account has run for 10 minutes on one CPU, user 1002 not at all.
Scenario with_usage(const std::string& lines) {
    Scenario scenario = cluster_with("PriorityCalcPeriod=1\n" + lines);
    EXPECT_EQ(scenario.run("member 1001 account=a Priority=7\nmember 1002 account=a\n"
                           "submit old user=1001 account=a cpus=1\npass\nat 10\nend old\n"
                           "at 12\nsubmit greedy user=1001 account=a\n"
                           "submit modest user=1002 account=a"),
              "");
    return scenario;
}
const UsedAmounts* used_by_1001(Scenario& scenario) {
    const Association* own = scenario.cluster().associations().find("a", UserId{1001}, "");
    return scenario.cluster().usage().of_association(own->id);
}
const ShareLine& share_of_1001(Scenario& scenario) {
    return *scenario.cluster().fair_share()->find("a", UserId{1001}, "");
}

TEST(ConfigEffects, PriorityWeightFairShare) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = with_usage(is_set ? "PriorityWeightFairShare=1000" : "");
        EXPECT_EQ(priority_of(scenario, "modest") >= priority_of(scenario, "greedy") + 500, is_set);
    }
}

TEST(ConfigEffects, PriorityWeightAssoc) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = with_usage(is_set ? "PriorityWeightAssoc=1000" : "");
        EXPECT_EQ(priority_of(scenario, "greedy") >= priority_of(scenario, "modest") + 900, is_set);
    }
}

TEST(ConfigEffects, PriorityDecayHalfLife) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = with_usage(is_set ? "PriorityDecayHalfLife=10" : "");
        ASSERT_EQ(scenario.run("at 112"), "");
        EXPECT_EQ(used_by_1001(scenario)->wall_seconds < 2, is_set);
    }
}

TEST(ConfigEffects, PriorityUsageResetPeriod) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = with_usage(is_set ? "PriorityUsageResetPeriod=DAILY" : "");
        ASSERT_EQ(scenario.run("cancel greedy\ncancel modest\nat 3000"), "");
        (void)scenario.cluster().take_changes();
        EXPECT_EQ(used_by_1001(scenario) == nullptr, is_set);
    }
}

TEST(ConfigEffects, FairShareDampeningFactor) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = with_usage(std::string("PriorityFlags=NO_FAIR_TREE\n") +
                                       (is_set ? "FairShareDampeningFactor=5" : ""));
        EXPECT_EQ(share_of_1001(scenario).factor > 0.7, is_set);
    }
}

TEST(ConfigEffects, PriorityWeightQOS) {
    for (const bool is_set : {true, false}) {
        Scenario scenario = cluster_with(std::string("AccountingStorageEnforce=qos\n") +
                                         (is_set ? "PriorityWeightQOS=1000" : ""));
        ASSERT_EQ(scenario.run("qos high Priority=10\nsubmit a qos=high\nsubmit b"), "");
        EXPECT_EQ(priority_of(scenario, "a") >= priority_of(scenario, "b") + 900, is_set);
    }
}

TEST(ConfigEffects, QOS) {
    const Config config =
        small_with("QOS=Short Priority=100 MaxWall=1-0 MaxTRES=gres/gpu=4\nQOS=long Preempt=short");
    ASSERT_EQ(config.qos.size(), 2u);
    EXPECT_EQ(config.qos[0].first, "short");
    Qos qos;
    config.qos[0].second.apply_to(qos);
    EXPECT_EQ(qos.priority, 100u);
    EXPECT_EQ(qos.max_wall, Seconds{24 * 3600});
    EXPECT_EQ(qos.max_per_job.at("gres/gpu"), 4u);
    EXPECT_NE(error_with("QOS=a Frob=1").find("QOS=a"), std::string::npos);
    EXPECT_NE(error_with("QOS=a MaxWall=x").find("QOS=a"), std::string::npos);
    EXPECT_NE(error_with("QOS=a\nQOS=A").find("given twice"), std::string::npos);
}

TEST(ConfigEffects, AccountingStorageTRES) {
    const Config config = small_with("GresTypes=gpu\nAccountingStorageTRES=gres/GPU:a40,license/x");
    const std::vector<std::string> all = {"gres/gpu", "gres/gpu:a40", "license/x"};
    EXPECT_EQ(settings_from(config, UserId{0})->tracked_tres, all);
}

TEST(ConfigEffects, AccountingStorageEnforce) {
    const auto enforced = [](std::string_view words) {
        const Config config = small_with("AccountingStorageEnforce=" + std::string(words));
        return settings_from(config, UserId{0}).value();
    };
    EXPECT_FALSE(enforced("none").enforce_associations);
    const Settings associations = enforced("associations");
    EXPECT_TRUE(associations.enforce_associations);
    EXPECT_FALSE(associations.enforce_qos || associations.enforce_limits);
    EXPECT_TRUE(enforced("qos").enforce_qos && enforced("qos").enforce_associations);
    EXPECT_TRUE(enforced("limits").enforce_limits && enforced("limits").enforce_associations);
    EXPECT_FALSE(enforced("limits").enforce_safe);
    EXPECT_TRUE(enforced("safe").enforce_safe && enforced("safe").enforce_limits);
    EXPECT_TRUE(enforced("wckeys").enforce_wckeys && enforced("wckeys").enforce_associations);
    const Settings all = enforced("all");
    EXPECT_TRUE(all.enforce_safe && all.enforce_wckeys && all.enforce_qos &&
                all.accounts_for_steps);
    EXPECT_TRUE(enforced("nosteps").accounts_for_jobs);
    EXPECT_FALSE(enforced("nosteps").accounts_for_steps);
    EXPECT_FALSE(enforced("nojobs").accounts_for_steps || enforced("nojobs").accounts_for_jobs);
}

constexpr std::string_view kPreempted =
    "submit old partition=low nodelist=n1 exclusive mem=1\npass\nat 5\n"
    "submit young partition=low nodelist=n2 exclusive mem=1\npass\nat 6\n"
    "submit urgent partition=high exclusive mem=1\npass\n";

TEST(ConfigEffects, PreemptParameters) {
    const std::string preempts =
        "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
        "PartitionName=low Nodes=n[1-2] PriorityTier=1\n"
        "PartitionName=high Nodes=n[1-2] PriorityTier=2\n";
    EXPECT_EQ(cluster_with(preempts + "PreemptParameters=youngest_first")
                  .run(std::string(kPreempted) + "expect old running\nexpect young completing"),
              "");
}

TEST(ConfigEffects, reclaim_limits) {
    const std::string lines =
        "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
        "AccountingStorageEnforce=limits\n"
        "PartitionName=low Nodes=n[1-2] PriorityTier=1\n"
        "PartitionName=high Nodes=n[1-2] PriorityTier=2\n";
    const std::string jobs =
        "account lab GrpJobs=1\nmember 1000 account=lab default\n"
        "submit first user=1000 partition=low mem=1\npass\n"
        "submit second user=1000 partition=high mem=1\npass\n"
        "expect second pending AssocGrpJobsLimit\n";
    EXPECT_EQ(cluster_with(lines).run(jobs + "expect first running"), "");
    EXPECT_EQ(cluster_with(lines + "PreemptParameters=reclaim_limits\n")
                  .run(jobs + "expect first completing"),
              "");
}

// The signals that a job with --signal=USR1 gets when it is preempted, in their order.
std::vector<int> signals_at_preemption(std::string_view line) {
    Scenario scenario = cluster_with(
        "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
        "PartitionName=low Nodes=n1 PriorityTier=1 GraceTime=60\n"
        "PartitionName=high Nodes=n1 PriorityTier=2\n" +
        std::string(line));
    EXPECT_EQ(scenario.run("submit old partition=low exclusive mem=1 time=60 warn=1\npass\n"
                           "submit urgent partition=high exclusive mem=1\npass\n"
                           "expect old running"),
              "");
    std::vector<int> signals;
    for (const Effect& effect : scenario.effects())
        if (const auto* order = std::get_if<SignalJob>(&effect)) signals.push_back(order->signal);
    return signals;
}

TEST(ConfigEffects, send_user_signal) {
    EXPECT_EQ(signals_at_preemption(""), (std::vector<int>{SIGCONT, SIGTERM}));
    EXPECT_EQ(signals_at_preemption("PreemptParameters=send_user_signal"),
              std::vector<int>{SIGUSR1});
    EXPECT_EQ(signals_at_preemption("SlurmctldParameters=preempt_send_user_signal"),
              std::vector<int>{SIGUSR1});
}

TEST(ConfigEffects, kill_invalid_depend) {
    const std::string_view jobs =
        "submit a mem=1\npass\nsubmit b depend=afterok:a mem=1\nend a code=1\npass\n";
    expect_effect({"SchedulerParameters=kill_invalid_depend",
                   std::string(jobs) + "expect b cancelled",
                   std::string(jobs) + "expect b pending DependencyNeverSatisfied"});
}

TEST(ConfigEffects, requeue_delay) {
    expect_effect({"SchedulerParameters=requeue_delay=300",
                   "submit a\npass\nrequeue a\nclean a n1\nat 4\nexpect a pending\nat 6\n"
                   "expect a running",
                   "submit a\npass\nrequeue a\nclean a n1\nat 4\nexpect a running"});
}

// A running job on all nodes; two of one user wait for it. They differ: what waits for the same is
// estimated together.
constexpr std::string_view kTwoWait =
    "submit a nodes=4 exclusive mem=1 time=60\npass\n"
    "submit b nodes=4 exclusive mem=1 time=60\nsubmit c nodes=4 exclusive mem=1 time=61\npass\n";

struct BookedCase {
    std::string_view word;
    bool b, c;  // is a start planned?
};

void expect_booked(const BookedCase& each) {
    Scenario scenario = cluster_with("SchedulerParameters=" + std::string(each.word));
    ASSERT_EQ(scenario.run(kTwoWait), "");
    EXPECT_EQ(has_planned_start(scenario, "b"), each.b) << each.word;
    EXPECT_EQ(has_planned_start(scenario, "c"), each.c) << each.word;
}

TEST(ConfigEffects, bf_window) {
    expect_booked({"bf_window=59", false, false});
    expect_booked({"bf_window=119", true, false});
    expect_booked({"bf_window=600", true, true});
}

TEST(ConfigEffects, bf_max_job_test) {
    expect_booked({"bf_max_job_test=1", true, false});
    expect_booked({"bf_max_job_test=2", true, true});
}

TEST(ConfigEffects, bf_max_job_user) {
    expect_booked({"bf_max_job_user=1", true, false});
    expect_booked({"bf_max_job_user=2", true, true});
}

TEST(ConfigEffects, bf_max_job_part) {
    expect_booked({"bf_max_job_part=1", true, false});
    expect_booked({"bf_max_job_part=2", true, true});
}

TEST(ConfigEffects, SchedulerTimeSlice) {
    const std::string gang =
        "PreemptMode=GANG\nPartitionName=turns Nodes=n1 OverSubscribe=FORCE:2\n";
    const std::string_view jobs =
        "submit a partition=turns cpus=4\npass\n"
        "submit b partition=turns cpus=4\npass\nexpect a suspended\nat 1\n";
    EXPECT_EQ(
        cluster_with(gang + "SchedulerTimeSlice=60").run(std::string(jobs) + "expect a running"),
        "");
    EXPECT_EQ(
        cluster_with(gang + "SchedulerTimeSlice=600").run(std::string(jobs) + "expect a suspended"),
        "");
}

TEST(ConfigEffects, ResvOverRun) {
    const std::string_view jobs =
        "reserve r1 start=0 length=30 nodes=n1 users=1000\nsubmit a reservation=r1 time=60\n"
        "at 1\nexpect a running\nat 31\n";
    expect_effect({"ResvOverRun=5",
                   std::string(jobs) + "expect a running\nat 36\nexpect a completing",
                   std::string(jobs) + "expect a completing"});
}

TEST(ConfigEffects, disable_job_shrink) {
    const std::string_view job = "submit a nodes=3 mem=1\npass\nexpect a running n[1-3]\n";
    expect_effect({"SchedulerParameters=disable_job_shrink",
                   std::string(job) + "update a NumNodes=2 refused",
                   std::string(job) + "update a NumNodes=2\nexpect a running n[1-2]"});
}

TEST(ConfigEffects, max_switch_wait) {
    const std::string_view jobs =
        "switch s1 nodes=n[1-2]\nswitch s2 nodes=n[3-4]\nswitch top switches=s1,s2\n"
        "submit a nodelist=n1 exclusive mem=1 time=60\n"
        "submit b nodelist=n3 exclusive mem=1 time=60\npass\n"
        "submit near nodes=2 tasks=2 switches=1 mem=1 time=10\nat 2\n";
    expect_effect({"SchedulerParameters=max_switch_wait=60",
                   std::string(jobs) + "expect near running n[2,4]",
                   std::string(jobs) + "expect near pending"});
}

TEST(ConfigEffects, preempt_youngest_first) {
    EXPECT_EQ(cluster_with("PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
                           "PartitionName=low Nodes=n[1-2] PriorityTier=1\n"
                           "PartitionName=high Nodes=n[1-2] PriorityTier=2\n"
                           "SchedulerParameters=preempt_youngest_first")
                  .run(std::string(kPreempted) + "expect old running\nexpect young completing"),
              "");
}

}  // namespace
}  // namespace sluice
