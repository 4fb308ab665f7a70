// What listings say of what jobs and reservations hold.
#include "core/query/listing.h"

#include <gtest/gtest.h>

#include "core/query/columns_of.h"
#include "core/schedule/priority.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

// A text of every row.
template <typename Enum>
std::vector<std::string> texts_of(Scenario& world, TableKind kind, Enum column) {
    auto table = list_rows(*world.cluster().take_snapshot(world.now()), kind,
                           {static_cast<ColumnId>(column)}, {}, Viewer({}, UserId{0}));
    if (!table) return {table.error().detail};
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < table->rows(); ++row) {
        texts.emplace_back(table->text(row, column));
    }
    return texts;
}

TEST(Listing, AJobsCpusComeWithTheLayoutOfEachNode) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=8 cores=2 threads=2
        nodes     n2 cpus=4
        submit    j nodes=2 tasks=2 exclusive time=10
        pass
        expect    j running n[1-2]
    )"),
              "");
    EXPECT_EQ(texts_of(world, TableKind::Jobs, JobColumn::AllocLayout),
              std::vector<std::string>{"2:2:2\n4:1:1"});
}

TEST(Listing, NamedNodesComeInOrder) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-5] cpus=4
        submit    j nodes=3 nodelist=n3,n1,n2,n1 exclude=n5,n4 hold
    )"),
              "");
    EXPECT_EQ(texts_of(world, TableKind::Jobs, JobColumn::ReqNodes),
              std::vector<std::string>{"n[1-3]"});
    world.run("submit k hold");
    EXPECT_EQ(texts_of(world, TableKind::Jobs, JobColumn::ExcNodes),
              (std::vector<std::string>{"n[4-5]", ""}));
}

TEST(Listing, WhoIsExpectedToStartIsExpectedToEnd) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        submit    j begin=30 time=10
    )"),
              "");
    auto table = list_rows(*world.cluster().take_snapshot(world.now()), TableKind::Jobs,
                           {static_cast<ColumnId>(JobColumn::EndTime)}, {}, Viewer({}, UserId{0}));
    ASSERT_TRUE(table);
    EXPECT_EQ(table->number(0, JobColumn::EndTime), to_unix(world.now()) + 40 * 60);
}

TEST(Listing, WhoWaitsInTheQueueWasLookedAtByTheLastPass) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=1
        submit    runs
        submit    held hold
        submit    later begin=30
        at        5
        submit    waits
        pass
        expect    runs running
        expect    waits pending Resources
        at        6
        submit    joins
        pass
    )"),
              "");
    auto table =
        list_rows(*world.cluster().take_snapshot(world.now()), TableKind::Jobs,
                  {static_cast<ColumnId>(JobColumn::LastSchedEval)}, {}, Viewer({}, UserId{0}));
    ASSERT_TRUE(table);
    ASSERT_EQ(table->rows(), 5u);
    const std::int64_t now = to_unix(world.now());
    EXPECT_EQ(table->number(1, JobColumn::LastSchedEval), kAbsent);
    EXPECT_EQ(table->number(2, JobColumn::LastSchedEval), kAbsent);
    EXPECT_GE(table->number(3, JobColumn::LastSchedEval), now - 60);
    EXPECT_EQ(table->number(4, JobColumn::LastSchedEval), now);
}

// A job with as much text as the limits allow; no other has the same.
Job largest_job(std::uint32_t id) {
    const auto text = [&](std::size_t size) {
        std::string value = std::to_string(id);
        value.resize(size, 'x');
        return value;
    };
    JobRequest request;
    for (std::string JobTerms::*member :
         {&JobTerms::partition, &JobTerms::account, &JobTerms::qos, &JobTerms::wckey,
          &JobTerms::mail_user, &JobTerms::submit_host, &JobTerms::tres_bind}) {
        request.*member = text(sizes::kWord);
    }
    request.name = request.comment = text(sizes::kWord);
    request.work_dir = request.std_in = request.std_out = request.std_err = request.command =
        text(sizes::kPath);
    request.submit_line = text(sizes::kSubmitLine);
    request.shape.nodelist = text(sizes::kNodeList);
    request.shape.exclude = text(sizes::kNodeList - 1);
    request.shape.constraint = text(sizes::kFeatures);
    Job job;
    job.id = JobId{id};
    set_request(job, request);
    job.partition = request.partition;
    job.admin_comment = text(sizes::kWord);
    return job;
}

TEST(Listing, ThatWouldBeTooLargeIsRefused) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\npass"), "");
    std::vector<ColumnId> all;
    for (const auto& source : job_columns()) all.push_back(source.id);
    const auto list = [&] {
        return list_rows(*world.cluster().take_snapshot(world.now()), TableKind::Jobs, all, {},
                         Viewer({}, UserId{0}));
    };
    std::uint32_t id = 1;
    for (; id <= 10; ++id) world.cluster().add_job(largest_job(id));
    Result<Table> few = list();
    ASSERT_TRUE(few) << few.error().detail;
    EXPECT_EQ(few->rows(), 10u);
    EXPECT_GT(few->text_bytes(), 10 * 2 * sizes::kNodeList);
    const std::uint32_t too_many = static_cast<std::uint32_t>(sizes::kListing / sizes::kNodeList);
    for (; id <= too_many / 2; ++id) world.cluster().add_job(largest_job(id));
    const Result<Table> many = list();
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().code, ErrorCode::MessageTooLarge);
    EXPECT_NE(many.error().detail.find("ask for fewer jobs or fewer columns"), std::string::npos);
}

TEST(Listing, AColumnIsNamedOnce) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\nsubmit j"), "");
    const auto id = static_cast<ColumnId>(JobColumn::Id);
    const auto snapshot = world.cluster().take_snapshot(world.now());
    EXPECT_FALSE(list_rows(*snapshot, TableKind::Jobs, {id, id}, {}, Viewer({}, UserId{0})));
}

TEST(Listing, ManyNamesFindTheirJobs) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=2
        submit    one hold
        submit    array array=0-3
        submit    other hold
        pass
    )"),
              "");
    Filter filter{.all_states = true};
    for (std::uint32_t id = 1000; id < 3000; ++id)
        filter.jobs.push_back({.job = JobId{id}, .tasks = {}, .het_component = {}, .step = {}});
    const std::uint32_t array = world.job("array").value;
    filter.jobs.push_back(*parse_job_ref(std::to_string(world.job("one").value)));
    filter.jobs.push_back(*parse_job_ref(std::to_string(array) + "_[1,3]"));
    auto table =
        list_rows(*world.cluster().take_snapshot(world.now()), TableKind::Jobs,
                  {static_cast<ColumnId>(JobColumn::ArrayJobId)}, filter, Viewer({}, UserId{0}));
    ASSERT_TRUE(table);
    ASSERT_EQ(table->rows(), 3u) << "one, the task 1 that runs, and the record with the task 3";
}

TEST(Listing, ADamagedJobIsSaidToBeDamaged) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2]\npass"), "");
    StoredState stored;
    stored.damaged = {{"job", "7", "noise"}, {"node", "n2", "noise"}, {"qos", "1", "noise"}};
    Policy policy;
    policy.qos = {Qos{.id = 2, .name = "high"}};
    stored.policy = std::make_shared<const Policy>(std::move(policy));
    stored.next_job_id = 3;
    world.cluster().restore(stored, world.now());
    const auto list = [&](std::uint32_t id) {
        Filter filter{.jobs = {*parse_job_ref(std::to_string(id))}};
        return list_rows(*world.cluster().take_snapshot(world.now()), TableKind::Jobs,
                         {static_cast<ColumnId>(JobColumn::Id)}, filter, Viewer({}, UserId{0}))
            .error()
            .detail;
    };
    EXPECT_EQ(list(7), "the stored record of job 7 is damaged");
    EXPECT_EQ(world.cluster().take_job_id(), JobId{8}) << "its id is not given to another job";
    EXPECT_EQ(world.cluster().node(NodeIndex{0}).admin_flags, 0u);
    EXPECT_EQ(world.cluster().node(NodeIndex{1}).admin_flags, kNodeDrain);
    EXPECT_EQ(world.cluster().qos().size(), 2u) << "the default QOS is there";
}

TEST(Listing, ReservationsOfFirstCoresSayWhich) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-3] cpus=4
        reserve   first start=10 length=60 count=2 cores=1,3 users=1000 flags=FIRST_CORES
        reserve   any   start=100 length=60 nodes=n3 cores=2 users=1000
    )"),
              "");
    EXPECT_EQ(texts_of(world, TableKind::Reservations, ReservationColumn::CoreIds),
              (std::vector<std::string>{"NodeName=n1 CoreIDs=0\nNodeName=n2 CoreIDs=0-2", ""}));
}

constexpr UserId kAnn{1000}, kBob{1001}, kSlurm{500};

// Two jobs of two users, and a reservation of each.
struct PrivateWorld {
    Scenario scenario;
    std::shared_ptr<const Snapshot> snapshot;

    explicit PrivateWorld(PrivateData hidden) {
        EXPECT_EQ(scenario.run(R"(
            nodes     n[1-2] cpus=4
            partition p default
            submit    ann user=1000 cpus=4 time=30
            submit    bob user=1001 cpus=4 time=30
            pass
            submit    late user=1001 cpus=4 time=30
            pass
            reserve   for_ann start=100 length=30 nodes=n1 users=1000
            reserve   for_bob start=100 length=30 nodes=n2 users=1001
        )"),
                  "");
        Settings settings = scenario.cluster().settings();
        settings.private_data = hidden;
        settings.slurm_user = kSlurm;
        scenario.cluster().apply_settings(std::make_shared<const Settings>(settings),
                                          scenario.now());
        snapshot = scenario.cluster().take_snapshot(scenario.now());
    }
    // How many rows; -1: refused.
    int rows(TableKind kind, UserId viewer, const Filter& filter = {}) const {
        auto table = list_rows(*snapshot, kind, {0}, filter, Viewer(*snapshot->settings, viewer));
        return table ? static_cast<int>(table->rows()) : -1;
    }
};

TEST(PrivateData, JobsAndStepsAreForTheirOwner) {
    const PrivateWorld open({}), hidden({.jobs = true});
    for (TableKind kind : {TableKind::Jobs, TableKind::Steps}) {
        const bool jobs = kind == TableKind::Jobs;
        EXPECT_EQ(open.rows(kind, kAnn), jobs ? 3 : 2);
        EXPECT_EQ(hidden.rows(kind, kAnn), 1);
        EXPECT_EQ(hidden.rows(kind, kBob), jobs ? 2 : 1);
        EXPECT_EQ(hidden.rows(kind, UserId{7}), 0);
        EXPECT_EQ(hidden.rows(kind, kSlurm), jobs ? 3 : 2);
        EXPECT_EQ(hidden.rows(kind, UserId{0}), jobs ? 3 : 2);
    }
    Filter one;
    one.jobs = {{.job = hidden.scenario.job("bob"), .tasks = {}, .het_component = {}, .step = {}}};
    EXPECT_EQ(hidden.rows(TableKind::Jobs, kBob, one), 1);
    EXPECT_EQ(hidden.rows(TableKind::Jobs, kAnn, one), -1);  // as if it did not exist
    EXPECT_EQ(hidden.rows(TableKind::Nodes, kAnn), 2);
}

TEST(PrivateData, NodesAndPartitionsAreForAdministrators) {
    const PrivateWorld nodes({.nodes = true}), partitions({.partitions = true});
    EXPECT_EQ(nodes.rows(TableKind::Nodes, kAnn), -1);
    EXPECT_EQ(nodes.rows(TableKind::Partitions, kAnn), 1);
    EXPECT_EQ(nodes.rows(TableKind::Nodes, kSlurm), 2);
    EXPECT_EQ(partitions.rows(TableKind::Partitions, kAnn), -1);
    EXPECT_EQ(partitions.rows(TableKind::Nodes, kAnn), 2);
    EXPECT_EQ(partitions.rows(TableKind::Partitions, UserId{0}), 1);
}

TEST(PrivateData, ReservationsAreForTheirUsers) {
    const PrivateWorld open({}), hidden({.reservations = true});
    EXPECT_EQ(open.rows(TableKind::Reservations, kAnn), 2);
    EXPECT_EQ(hidden.rows(TableKind::Reservations, kAnn), 1);
    EXPECT_EQ(hidden.rows(TableKind::Reservations, UserId{7}), 0);
    EXPECT_EQ(hidden.rows(TableKind::Reservations, UserId{0}), 2);
}

// Ann and Bob in one account, and the coordinator (1007) of it.
TEST(PrivateData, SharesAreForTheirUserAndTheCoordinator) {
    for (const bool is_hidden : {false, true}) {
        Scenario scenario;
        ASSERT_EQ(scenario.run("nodes n1 cpus=4\npartition p default\n"
                               "member 1000 account=a\nmember 1001 account=a\n"
                               "member 1007 account=b\n"),
                  "");
        Policy policy = scenario.cluster().policy();
        policy.accounts = {{.name = "a", .coordinators = {"1007"}}};
        policy.users = {{.name = "1007", .uid = UserId{1007}}};
        scenario.cluster().set_policy(policy);
        Settings settings = scenario.cluster().settings();
        settings.private_data.usage = is_hidden;
        settings.priority.multifactor = true;
        settings.slurm_user = kSlurm;
        scenario.cluster().apply_settings(std::make_shared<const Settings>(settings),
                                          scenario.now());
        reprioritize_all(scenario.cluster(), scenario.now(), true);
        const auto snapshot = scenario.cluster().take_snapshot(scenario.now());
        const auto rows = [&](UserId viewer) {
            return list_rows(*snapshot, TableKind::Shares, {0}, {},
                             Viewer(*snapshot->settings, viewer))
                ->rows();
        };
        EXPECT_EQ(rows(UserId{0}), 6u);  // root, a, two users, b, a user
        EXPECT_EQ(rows(kSlurm), 6u);
        EXPECT_EQ(rows(kAnn), is_hidden ? 1u : 6u);
        EXPECT_EQ(rows(UserId{1007}), is_hidden ? 4u : 6u);
        EXPECT_EQ(rows(UserId{7}), is_hidden ? 0u : 6u);
    }
}

TEST(PrivateData, AnExplanationNamesNoJobOfOthers) {
    PrivateWorld world({.jobs = true});
    auto ask = [&](const std::string& job, UserId user) {
        Effects effects;
        JobRef ref{.job = world.scenario.job(job), .tasks = {}, .het_component = {}, .step = {}};
        apply(world.scenario.cluster(), world.scenario.now(),
              ExplainJob{RequestId{1}, {user, GroupId{1}}, ref}, effects);
        return std::get<Reply>(effects.at(0)).answer;
    };
    EXPECT_TRUE(std::holds_alternative<Error>(ask("late", kAnn)));
    const auto all = std::get<std::vector<Explanation>>(ask("late", kBob));
    int own = 0, hidden = 0;
    for (const Explanation::Place& place : all.at(0).places) {
        for (const Explanation::Holder& holder : place.holders) {
            own += holder.job == std::to_string(world.scenario.job("bob").value);
            hidden += holder.job.empty();
        }
    }
    EXPECT_EQ(own, 1);
    EXPECT_EQ(hidden, 1);
}

}  // namespace
}  // namespace sluice
