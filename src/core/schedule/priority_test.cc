// core/schedule/priority_test.cc: the factors of a priority, and what changes it.
#include "core/schedule/priority.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/job/verbs.h"
#include "core/query/listing.h"
#include "core/schedule/waiting.h"
#include "model/job_keys.h"
#include "model/partition_keys.h"
#include "model/qos_keys.h"

namespace sluice {
namespace {

constexpr Time kStart = from_unix(1'800'000'000);
const Caller kUser{UserId{1000}, GroupId{100}};

// Six nodes with 16 CPUs, 100 GB and, two of them, 8 GPUs. Of the partitions, debug counts most.
Settings small_site() {
    Settings settings;
    for (int i = 1; i <= 6; ++i) {
        NodeConfig node{
            .name = "n" + std::to_string(i), .cpus = 16, .sockets = 16, .real_memory = 100'000};
        if (i > 4) node.gres = {{"gpu", "", 8}};
        settings.nodes.push_back(node);
    }
    auto add = [&](const char* name, std::uint32_t factor) {
        PartitionConfig partition{.name = name};
        for (const NodeConfig& node : settings.nodes) partition.nodes.push_back(node.name);
        partition.priority_job_factor = factor;
        partition.is_default = factor == 5;
        settings.partitions.push_back(partition);
    };
    add("debug", 10);
    add("short", 5);
    add("long", 1);
    settings.config_overrides = true;
    settings.max_job_count = 1'000'000;
    settings.priority.multifactor = true;
    return settings;
}

class Site {
public:
    explicit Site(Settings settings)
        : cluster(std::make_shared<Settings>(std::move(settings)), kStart) {}

    JobId submit(JobRequest demand, Caller caller = kRoot) {
        Effects effects;
        if (demand.shape.mem_per_node == std::nullopt) demand.shape.mem_per_node = 1000;
        apply(cluster, now,
              SubmitJob{RequestId{1}, caller, std::make_shared<JobRequest>(demand), "", false},
              effects);
        const Answer& answer = std::get<Reply>(effects.back()).answer;
        EXPECT_TRUE(std::holds_alternative<Submitted>(answer));
        return std::get<Submitted>(answer).job;
    }
    void add_qos(std::string name, std::string priority) {
        Policy policy = cluster.policy();
        Qos& qos = policy.qos.emplace_back();
        qos.id = static_cast<std::uint32_t>(policy.qos.size());
        qos.name = std::move(name);
        parse_qos_change({{"Priority", priority}}).value().apply_to(qos);
        Effects effects;
        apply(cluster, now, PolicyChanged{std::make_shared<const Policy>(std::move(policy))},
              effects);
    }
    Answer update(JobId id, std::string key, std::string value, Caller caller = kRoot) {
        Effects effects;
        JobRef ref{.job = id, .tasks = {}, .het_component = {}, .step = {}};
        const Result<JobChange> change = parse_job_change({{key, value}}, now);
        if (!change) return change.error();
        apply(cluster, now, UpdateJob{RequestId{1}, caller, ref, *change}, effects);
        return std::get<Reply>(effects.back()).answer;
    }
    std::vector<JobResult> control(JobVerb verb, std::vector<JobId> ids, Caller caller = kRoot) {
        Effects effects;
        ControlJobs event{RequestId{1}, caller, verb, {}};
        for (JobId id : ids)
            event.jobs.push_back({.job = id, .tasks = {}, .het_component = {}, .step = {}});
        apply(cluster, now, event, effects);
        return std::get<std::vector<JobResult>>(std::get<Reply>(effects.back()).answer);
    }
    void wait(Seconds time) {
        now += time;
        Effects effects;
        apply(cluster, now, Tick{}, effects);
    }
    std::uint32_t priority(JobId id) const { return cluster.priority(id); }
    std::vector<std::uint32_t> order(const std::string& partition) {
        std::set<QueueKey> keys;
        cluster.waiting().queue().for_each_class([&](const JobClass& job_class) {
            if (job_class.partition.find(partition) == std::string::npos) return;
            keys.insert(job_class.waiting.begin(), job_class.waiting.end());
        });
        std::vector<std::uint32_t> ids;
        for (const QueueKey& key : keys) {
            EXPECT_EQ(key.priority, priority(key.job));
            ids.push_back(key.job.value);
        }
        return ids;
    }

    Cluster cluster;
    Time now = kStart;
};

JobRequest asks(std::string partition, std::uint32_t tasks = 1, std::uint32_t nodes = 1) {
    JobRequest demand;
    demand.partition = std::move(partition);
    demand.shape.ntasks = tasks;
    demand.shape.nodes_min = nodes;
    return demand;
}

// The numbers are those of a real cluster with these weights.
TEST(Priority, IsTheSumOfItsWeightedFactors) {
    Settings settings = small_site();
    settings.priority.weight_partition = 1000;
    settings.priority.weight_job_size = 1000;
    settings.priority.weight_tres = {{"cpu", 2000}, {"gres/gpu", 4000}};
    Site site(settings);
    JobId one = site.submit(asks("short"));
    JobRequest gpus = asks("debug", 8);
    gpus.shape.gres_per_node = {{"gpu", "", 4}};
    gpus.nice = 50;
    JobId two = site.submit(gpus);
    PriorityFactors factors =
        factors_of(site.cluster.priority_scale(), site.cluster.job(one), "short");
    EXPECT_NEAR(factors.job_size.raw, 0.0885417, 1e-7);
    EXPECT_NEAR(factors.partition.raw, 0.5, 1e-9);
    EXPECT_NEAR(factors.tres.at(0).factor.weighted, 2000.0 / 96, 1e-9);
    EXPECT_EQ(site.priority(one), 609u);   // 88.54 + 500 + 20.83
    EXPECT_EQ(site.priority(two), 2241u);  // 125 + 1000 + 166.67 + 1000 - 50
}

TEST(Priority, SizeFollowsTheFlags) {
    struct Case {
        bool favor_small;
        std::vector<std::string> flags;
        double expected;
    };
    const Case kCases[] = {
        {false, {}, (2.0 / 6 + 32.0 / 96) / 2},
        {true, {}, 1 - (2.0 / 6 + 32.0 / 96) / 2},
        {false, {"SMALL_RELATIVE_TO_TIME"}, 32.0 / 2 / 96},
        {true, {"SMALL_RELATIVE_TO_TIME"}, 1 - 32.0 / 2 / 96},
    };
    for (const Case& each : kCases) {
        Settings settings = small_site();
        settings.priority.weight_job_size = 1000;
        settings.priority.favor_small = each.favor_small;
        settings.priority.flags = each.flags;
        Site site(settings);
        JobRequest demand = asks("short", 32, 2);
        demand.time_limit = TimeLimit{Minutes{2}};
        JobId id = site.submit(demand);
        double size =
            factors_of(site.cluster.priority_scale(), site.cluster.job(id), "short").job_size.raw;
        EXPECT_NEAR(size, each.expected, 1e-9);
    }
}

TEST(Priority, UnnormalizedFactorsAreTheNumbersThemselves) {
    Settings settings = small_site();
    settings.priority.weight_partition = settings.priority.weight_qos = 1;
    settings.priority.weight_tres = {{"mem", 2}};
    settings.priority.flags = {"NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES"};
    Site site(settings);
    site.add_qos("high", "70");
    JobRequest demand = asks("debug");
    demand.qos = "high";
    EXPECT_EQ(site.priority(site.submit(demand)), 10u + 70u + 2000u);
}

TEST(Priority, QosAndPartitionAreMeasuredAgainstTheHighest) {
    Settings settings = small_site();
    settings.priority.weight_partition = settings.priority.weight_qos = 1000;
    Site site(settings);
    site.add_qos("high", "50");
    site.add_qos("low", "5");
    JobRequest high = asks("long"), low = asks("debug");
    high.qos = "high";
    low.qos = "low";
    EXPECT_EQ(site.priority(site.submit(high)), 1100u);
    EXPECT_EQ(site.priority(site.submit(low)), 1100u);
}

TEST(Priority, AgeGrowsAtEachCalculationUpToItsMaximum) {
    Settings settings = small_site();
    settings.priority.weight_age = 1000;
    settings.priority.max_age = Seconds{1000};
    settings.priority.calc_period = Seconds{60};
    Site site(settings);
    JobId first = site.submit(asks("short"));
    EXPECT_EQ(site.priority(first), 1u);
    site.wait(Seconds{59});
    EXPECT_EQ(site.priority(first), 1u);
    site.wait(Seconds{1});
    EXPECT_EQ(site.priority(first), 60u);
    JobId second = site.submit(asks("short"));
    site.wait(Seconds{60});
    EXPECT_EQ(site.priority(first), 120u);
    EXPECT_EQ(site.priority(second), 60u);
    for (int i = 0; i < 40; ++i) site.wait(Seconds{60});
    EXPECT_EQ(site.priority(first), 1000u);
    EXPECT_EQ(site.priority(second), 1000u);
    EXPECT_EQ(site.order("short"), (std::vector<std::uint32_t>{first.value, second.value}));
}

TEST(Priority, JobsThatMayNotRunYetDoNotAgeUnlessAllAccrue) {
    for (bool always : {false, true}) {
        Settings settings = small_site();
        settings.priority.weight_age = 1000;
        settings.priority.max_age = Seconds{1000};
        settings.priority.calc_period = Seconds{100};
        if (always) settings.priority.flags = {"ACCRUE_ALWAYS"};
        Site site(settings);
        JobRequest later = asks("short");
        later.begin = kStart + Seconds{500};
        JobId job = site.submit(later);
        site.wait(Seconds{100});
        EXPECT_EQ(site.priority(job), always ? 100u : 1u);
        JobRequest held = asks("short");
        held.hold = true;
        JobId waiting = site.submit(held);
        site.wait(Seconds{100});
        EXPECT_EQ(site.priority(waiting), 0u);
        site.control(JobVerb::Release, {waiting});
        EXPECT_EQ(site.priority(waiting), always ? 100u : 1u);
    }
}

// Users 2, 3, ... of the account 1.
Policy vision_with(const std::vector<UserId>& users) {
    Policy policy;
    Association account;
    account.id = 1;
    account.account = "vision";
    policy.associations.push_back(account);
    for (UserId user : users) {
        Association association = account;
        association.id = static_cast<std::uint32_t>(policy.associations.size()) + 1;
        association.parent = 1;
        association.user = std::to_string(user.value);
        association.uid = user;
        policy.associations.push_back(association);
    }
    return policy;
}

TEST(Priority, IncreasesOnlyWhereThatIsAskedFor) {
    Settings settings = small_site();
    settings.priority.weight_fairshare = 1000;
    settings.priority.flags = {"INCR_ONLY"};
    Site site(settings);
    JobRequest demand = asks("short");
    demand.account = "vision";
    site.cluster.set_policy(vision_with({kUser.user, UserId{77}}));
    JobId job = site.submit(demand, kUser);
    EXPECT_EQ(site.priority(job), 1u);
    site.wait(Seconds{300});
    EXPECT_EQ(site.priority(job), 1000u);
    for (std::uint32_t id : {1u, 2u})
        site.cluster.usage().add_to_association(id, {{{"billing", 10.0}}, 10});
    site.wait(Seconds{300});
    EXPECT_EQ(site.cluster.fair_share()->find("vision", kUser.user, "short")->factor, 0.5);
    EXPECT_EQ(site.priority(job), 1000u);
}

TEST(Priority, OfSeveralPartitionsTheHighestCountsAndEachIsListed) {
    Settings settings = small_site();
    settings.priority.weight_partition = 1000;
    Site site(settings);
    JobId job = site.submit(asks("long,debug"));
    EXPECT_EQ(site.priority(job), 1000u);
    EXPECT_EQ(priority_in(site.cluster.priority_scale(), site.cluster.job(job), "long"), 100u);
    auto table =
        list_rows(*site.cluster.take_snapshot(site.now), TableKind::Jobs,
                  {static_cast<ColumnId>(JobColumn::PriorityFactors)}, {}, Viewer({}, UserId{0}));
    ASSERT_TRUE(table);
    auto lines = parse_priority_lines(table->text(0, JobColumn::PriorityFactors));
    ASSERT_TRUE(lines);
    ASSERT_EQ(lines->size(), 2u);
    EXPECT_EQ(lines->at(0).partition, "long");
    EXPECT_EQ(lines->at(0).total, 100);
    EXPECT_EQ(lines->at(1).factors.partition.raw, 1);
}

// As a real cluster lists them: 1 is eligible, 2 waits for it.
TEST(Priority, WhoWaitsForOthersIsListedOnlyWithAccrueAlways) {
    for (bool always : {false, true}) {
        Settings settings = small_site();
        settings.priority.weight_partition = 1000;
        if (always) settings.priority.flags = {"ACCRUE_ALWAYS"};
        Site site(settings);
        JobRequest later = asks("long");
        later.dependency = fmt::format("afterok:{}", site.submit(asks("long")).value);
        site.submit(later);
        auto table = list_rows(*site.cluster.take_snapshot(site.now), TableKind::Jobs,
                               {static_cast<ColumnId>(JobColumn::PriorityFactors)}, {},
                               Viewer({}, UserId{0}));
        ASSERT_TRUE(table);
        EXPECT_NE(table->text(0, JobColumn::PriorityFactors), "");
        EXPECT_EQ(!table->text(1, JobColumn::PriorityFactors).empty(), always);
    }
}

TEST(Priority, SetByHandStaysUntilHeldAndReleased) {
    Settings settings = small_site();
    settings.priority.weight_partition = 1000;
    settings.priority.weight_age = 1000;
    Site site(settings);
    JobId job = site.submit(asks("short"));
    site.update(job, "Nice", "100");
    EXPECT_EQ(site.priority(job), 400u);
    site.update(job, "Priority", "77");
    EXPECT_EQ(site.priority(job), 77u);
    EXPECT_EQ(site.cluster.job(job).request->nice, 0);
    site.wait(Seconds{24 * 3600});
    EXPECT_EQ(site.priority(job), 77u);
    site.control(JobVerb::Hold, {job});
    EXPECT_EQ(site.priority(job), 0u);
    site.update(job, "Nice", "5");
    EXPECT_EQ(site.priority(job), 0u);
    site.control(JobVerb::Release, {job});
    EXPECT_EQ(site.priority(job), 495u);
    site.update(job, "SiteFactor", "30");
    EXPECT_EQ(site.priority(job), 525u);
    site.update(job, "Partition", "debug");
    EXPECT_EQ(site.priority(job), 1025u);
}

TEST(Priority, UsersMayOnlyLowerIt) {
    Settings settings = small_site();
    settings.priority.weight_partition = 1000;
    Site site(settings);
    JobId job = site.submit(asks("short"), kUser);
    for (auto [key, value] : {std::pair{"Priority", "501"}, {"Nice", "-1"}, {"SiteFactor", "1"}}) {
        EXPECT_TRUE(std::holds_alternative<Error>(site.update(job, key, value, kUser))) << key;
    }
    EXPECT_TRUE(std::holds_alternative<Done>(site.update(job, "Priority", "499", kUser)));
    EXPECT_EQ(site.priority(job), 499u);
    for (const char* value : {"", "x", "2147483646", "-", "--1"}) {
        EXPECT_TRUE(std::holds_alternative<Error>(site.update(job, "Nice", value))) << value;
    }
}

TEST(Priority, FollowsTheConfiguration) {
    Settings settings = small_site();
    settings.priority.weight_partition = 1000;
    Site site(settings);
    JobId one = site.submit(asks("short")), two = site.submit(asks("debug"));
    settings.partitions[1].priority_job_factor = 20;
    Effects effects;
    apply(site.cluster, site.now,
          Reconfigure{RequestId{0}, kRoot, std::make_shared<Settings>(settings)}, effects);
    EXPECT_EQ(site.priority(one), 1000u);
    EXPECT_EQ(site.priority(two), 500u);
    apply(site.cluster, site.now,
          UpdatePartition{RequestId{1}, kRoot, "debug",
                          parse_partition_change({{"PriorityJobFactor", "40"}}).value()},
          effects);
    EXPECT_EQ(site.priority(one), 500u);
    EXPECT_EQ(site.priority(two), 1000u);
    settings.priority.multifactor = false;
    apply(site.cluster, site.now,
          Reconfigure{RequestId{0}, kRoot, std::make_shared<Settings>(settings)}, effects);
    EXPECT_EQ(site.priority(one), 4294901760u - one.value);
}

TEST(Priority, RecordsTakeOverWhatWasRecalculatedWhenTheyChange) {
    Settings settings = small_site();
    settings.priority.weight_age = 1'000'000;
    Site site(settings);
    JobId job = site.submit(asks("short"));
    site.wait(Seconds{3600});
    std::uint32_t priority = site.priority(job);
    EXPECT_LT(site.cluster.job(job).priority, priority);
    site.update(job, "SiteFactor", "7");
    EXPECT_EQ(site.cluster.job(job).priority, priority + 7);
    site.wait(Seconds{3600});
    priority = site.priority(job);
    EXPECT_LT(site.cluster.job(job).priority, priority);
    Effects effects;
    CancelJobs cancel{.request = RequestId{1}, .caller = kRoot, .filter = {}};
    cancel.filter.jobs = {{.job = job, .tasks = {}, .het_component = {}, .step = {}}};
    apply(site.cluster, site.now, cancel, effects);
    EXPECT_FALSE(site.cluster.waiting().queue().contains(job));
    EXPECT_EQ(site.cluster.job(job).priority, priority);
}

TEST(Priority, RecalculationIsSeenButNotStored) {
    Settings settings = small_site();
    settings.priority.weight_age = 1'000'000;
    Site site(settings);
    JobId calculated = site.submit(asks("short"));
    JobRequest demand = asks("short");
    demand.priority = 50;
    JobId by_hand = site.submit(demand);
    site.cluster.take_changes();
    site.cluster.take_snapshot(site.now);
    site.wait(Seconds{3600});
    EXPECT_TRUE(site.cluster.take_changes().empty());
    auto seen = site.cluster.take_snapshot(site.now);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->priorities.of(*seen->jobs.find(calculated.value)), site.priority(calculated));
    EXPECT_GT(site.priority(calculated), 5000u);
    EXPECT_TRUE(seen->jobs.find(calculated.value) ==
                site.cluster.find_job(calculated));  // no record was copied

    StoredState stored;
    site.cluster.jobs().for_each([&](Job job) {
        if (!job.priority_by_hand) job.priority = 1;  // as it was when it was written
        job.priority_base = 0;
        stored.jobs.push_back(stored_form(job, {}));
    });
    Cluster again(site.cluster.settings_ptr(), site.now);
    again.restore(stored, site.now);
    EXPECT_EQ(again.job(calculated).priority, site.priority(calculated));
    EXPECT_EQ(again.job(by_hand).priority, 50u);
    EXPECT_TRUE(again.take_changes().jobs.empty());
}

TEST(Priority, ManyJobsAreReorderedAtOnce) {
    Settings settings = small_site();
    settings.priority.weight_fairshare = 10'000;
    settings.priority.weight_partition = 1000;
    Site site(settings);
    std::vector<UserId> users;
    for (std::uint32_t user = 0; user < 100; ++user) users.push_back(UserId{user});
    site.cluster.set_policy(vision_with(users));
    for (std::uint32_t user = 0; user < 100; ++user) {
        const double used = user * 37 % 100 + 1;  // another for each
        site.cluster.usage().add_to_association(user + 2, {{{"billing", used}}, used});
        site.cluster.usage().add_to_association(1, {{{"billing", used}}, used});
    }
    for (std::uint32_t i = 0; i < 2000; ++i) {
        JobRequest demand = asks(i % 3 ? "short" : "short,long");
        demand.account = "vision";
        site.submit(demand, {UserId{i % 100}, GroupId{100}});
    }
    site.wait(Seconds{300});
    std::vector<std::uint32_t> order = site.order("short");
    EXPECT_EQ(order.size(), 2000u);
    EXPECT_EQ(site.order("long").size(), 667u);
    EXPECT_GT(site.priority(JobId{order.front()}), 10'000u);
    EXPECT_EQ(site.priority(JobId{order.back()}), 600u);
}

TEST(Top, PutsTheNamedJobsFirstWithoutRaisingTheGroup) {
    Settings settings = small_site();
    settings.priority.weight_partition = 1000;
    Site site(settings);
    JobId a = site.submit(asks("short"), kUser), b = site.submit(asks("short"), kUser);
    JobId c = site.submit(asks("short"), kUser), other = site.submit(asks("short"));
    JobId several = site.submit(asks("short,long"), kUser);
    EXPECT_FALSE(site.control(JobVerb::Top, {c, b}).front().error);
    EXPECT_EQ(site.order("short"),
              (std::vector<std::uint32_t>{c.value, other.value, several.value, b.value, a.value}));
    EXPECT_EQ(site.priority(c), 500u);
    EXPECT_EQ(site.priority(b), 499u);
    EXPECT_EQ(site.priority(a), 498u);
    EXPECT_EQ(site.cluster.job(a).request->nice, 2);
    site.wait(Seconds{300});
    EXPECT_EQ(site.priority(a), 498u);
    EXPECT_TRUE(site.control(JobVerb::Top, {several}).front().error);
    EXPECT_TRUE(site.control(JobVerb::Top, {JobId{999}}).front().error);
    EXPECT_TRUE(site.control(JobVerb::Top, {a}, kUser).front().error);
}

TEST(Top, IsForUsersWhereTheSiteSaysSo) {
    Settings settings = small_site();
    settings.priority.user_top = true;
    Site site(settings);
    JobId a = site.submit(asks("short"), kUser), b = site.submit(asks("short"), kUser);
    JobId other = site.submit(asks("short"));
    EXPECT_FALSE(site.control(JobVerb::Top, {b}, kUser).front().error);
    EXPECT_EQ(site.order("short").front(), b.value);
    EXPECT_GT(site.priority(b), site.priority(a));
    EXPECT_TRUE(site.control(JobVerb::Top, {other}, kUser).front().error);
    site.control(JobVerb::Hold, {a});
    EXPECT_TRUE(site.control(JobVerb::Top, {a}, kUser).front().error);
}

}  // namespace
}  // namespace sluice
