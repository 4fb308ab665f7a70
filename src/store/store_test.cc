// store/store_test.cc
//
// What every store promises, asked of each kind.
#include "store/store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "model/errors.h"
#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;

// Field by field, except that shared values are compared by what they hold.
void expect_same(const Job& job, const Job& original) {
    RC_ASSERT(*job.request == *original.request);
    RC_ASSERT(*job.details == *original.details);
    RC_ASSERT(!job.run.allocation == !original.run.allocation);
    if (job.run.allocation) RC_ASSERT(*job.run.allocation == *original.run.allocation);
    RC_ASSERT(job.run.steps.size() == original.run.steps.size());
    for (std::size_t i = 0; i < job.run.steps.size(); ++i) {
        RC_ASSERT(*job.run.steps[i] == *original.run.steps[i]);
    }
    Job same = job;
    same.request = original.request;
    same.details = original.details;
    same.run.allocation = original.run.allocation;
    same.run.steps = original.run.steps;
    RC_ASSERT(same == original);
}

std::vector<std::unique_ptr<Store>> one_of_each(const StateDirectory& directory) {
    std::vector<std::unique_ptr<Store>> stores;
    stores.push_back(memory_store());
    stores.push_back(open_sqlite(directory.path()).value());
    return stores;
}

class EveryStore : public testing::Test {
protected:
    StateDirectory directory_;
    std::vector<std::unique_ptr<Store>> stores_ = one_of_each(directory_);
};

TEST_F(EveryStore, GivesJobsBackUnchanged) {
    for (const auto& store : stores_) {
        EXPECT_TRUE(rc::check([&] {
            const std::vector<Job> jobs = {arbitrary_job(3), arbitrary_job(7), arbitrary_job(12)};
            RC_ASSERT(bool(store->commit(batch_of(jobs))));
            const StoredState state = store->load().value();
            RC_ASSERT(state.jobs.size() == jobs.size());
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                expect_same(resolved(state.jobs[i], state), jobs[i]);
            }
        }));
    }
}

TEST_F(EveryStore, StartsEmpty) {
    for (const auto& store : stores_) {
        const StoredState state = store->load().value();
        EXPECT_TRUE(state.jobs.empty() && state.nodes.empty());
        EXPECT_EQ(state.next_job_id, 0u);
    }
}

TEST_F(EveryStore, KeepsNodesAndTheNextJobId) {
    auto node = std::make_shared<Node>();
    node->config.name = "n1";
    node->admin_flags = kNodeDrain;
    node->down = true;
    node->reason = "bad disk";
    node->reason_time = from_unix(1'700'000'000);
    node->reason_user = UserId{1000};
    node->comment = "rack 7";
    Batch batch;
    batch.changes.nodes.push_back(node);
    batch.changes.next_job_id = 4711;
    for (const auto& store : stores_) {
        ASSERT_TRUE(store->commit(batch));
        const StoredState state = store->load().value();
        EXPECT_EQ(state.next_job_id, 4711u);
        ASSERT_EQ(state.nodes.size(), 1u);
        const auto& stored = state.nodes[0];
        EXPECT_EQ(stored.name, "n1");
        EXPECT_EQ(stored.admin_flags, kNodeDrain);
        EXPECT_TRUE(stored.down);
        EXPECT_EQ(stored.reason, "bad disk");
        EXPECT_EQ(stored.reason_time, node->reason_time);
        EXPECT_EQ(stored.reason_user, node->reason_user);
        EXPECT_EQ(stored.comment, "rack 7");
    }
}

TEST_F(EveryStore, KeepsReservations) {
    Reservation reservation{.number = 3, .name = "course"};
    reservation.start = from_unix(1'700'000'000);
    reservation.end = from_unix(1'700'003'600);
    reservation.flags = kResvDaily | kResvSpecNodes;
    reservation.purge_after = Seconds{600};
    reservation.node_names = "n[1-4]";
    reservation.partition = "main";
    reservation.features = "a40";
    reservation.users = {UserId{0}, UserId{1000}};
    reservation.users_denied = true;
    reservation.accounts = {"vision"};
    reservation.last_used = from_unix(1'700'000'100);
    reservation.groups = {{"staff", {UserId{1000}, UserId{1001}}}};
    reservation.licenses = "matlab:2,ansys";
    reservation.cores = {{"n1", 4}, {"n2", 2}};
    reservation.gres = {{"gpu", "a40", 8}};
    reservation.ahead = Seconds{600};
    reservation.max_start_delay = Seconds{120};
    reservation.comment = "for the course";
    reservation.qos = {"high"};
    reservation.qos_denied = true;
    reservation.allowed_partitions = {"main"};
    Reservation other = reservation;
    other.name = "other";
    Batch both, fewer;
    both.changes.reservations = {reservation, other};
    fewer.changes.reservations_gone = {"other"};
    for (const auto& store : stores_) {
        ASSERT_TRUE(store->commit(both));
        ASSERT_TRUE(store->commit(fewer));
        EXPECT_EQ(store->load().value().reservations, std::vector{reservation});
    }
}

TEST_F(EveryStore, KeepsTheTableOfQos) {
    const Qos normal{.id = 1,
                     .name = "normal",
                     .description = "all",
                     .preempt = {},
                     .preempt_mode = {},
                     .exempt_time = {}};
    const Qos high{.id = 2,
                   .name = "high",
                   .description = "for deadlines",
                   .priority = 100,
                   .preempt = {"normal", "low"},
                   .preempt_mode = "WITHIN,REQUEUE",
                   .grace_time = Seconds{60},
                   .exempt_time = Seconds{0}};
    Batch both, fewer;
    both.changes.qos = std::make_shared<std::vector<Qos>>(std::vector{normal, high});
    fewer.changes.qos = std::make_shared<std::vector<Qos>>(std::vector{high});
    for (const auto& store : stores_) {
        ASSERT_TRUE(store->commit(both));
        EXPECT_EQ(store->load().value().qos, (std::vector{normal, high}));
        ASSERT_TRUE(store->commit(fewer));
        EXPECT_EQ(store->load().value().qos, std::vector{high});
    }
}

TEST_F(EveryStore, KeepsTheLastVersionAndForgetsWhatIsForgotten) {
    for (const auto& store : stores_) {
        ASSERT_TRUE(store->commit(batch_of({simple_job(1), simple_job(2)})));
        Job changed = simple_job(2);
        changed.priority = 99;
        Batch batch = batch_of({changed});
        batch.changes.forgotten = {JobId{1}};
        ASSERT_TRUE(store->commit(batch));
        const StoredState state = store->load().value();
        ASSERT_EQ(state.jobs.size(), 1u);
        EXPECT_EQ(state.jobs[0].id, JobId{2});
        EXPECT_EQ(state.jobs[0].priority, 99u);
    }
}

Batch batch_of_run(Job job, ShownState state) {
    Batch batch = batch_of({});
    batch.changes.ended_runs.push_back({state, std::make_shared<const Job>(std::move(job))});
    return batch;
}

Batch batch_of_step(JobId job, std::uint32_t restarts, Step step) {
    Batch batch = batch_of({});
    batch.changes.ended_steps.push_back(
        {job, restarts, std::make_shared<const Step>(std::move(step))});
    return batch;
}

TEST_F(EveryStore, GivesEndedRunsBackUnchanged) {
    for (const auto& store : stores_) {
        EXPECT_TRUE(rc::check([&] {
            Job job = arbitrary_job(3);
            job.run.completing_nodes.clear();  // it is over
            if (is_live(job)) job.state = JobState::Pending;
            const auto state = arbitrary::one_of(ShownState::Stopped);
            RC_ASSERT(bool(store->commit(batch_of_run(job, state))));
            const std::vector<StoredRun> runs = store->ended_runs(10).value();
            RC_ASSERT(runs.size() == 1u);
            RC_ASSERT(runs[0].state == state);
            StoredState names;
            names.allocation_nodes[3] = runs[0].node_names;
            job.run.steps.clear();  // they have rows of their own
            expect_same(resolved(runs[0].job, names), job);
            Batch done;
            done.changes.accounted = {{JobId{3}, job.run.restarts, kBatchStep}};
            RC_ASSERT(bool(store->commit(done)));
        }));
    }
}

TEST_F(EveryStore, GivesEndedStepsBackUnchanged) {
    const auto node_count = static_cast<std::uint32_t>(node_names()->size());
    for (const auto& store : stores_) {
        EXPECT_TRUE(rc::check([&] {
            const Step step = arbitrary::step(node_count);
            RC_ASSERT(bool(store->commit(batch_of_step(JobId{3}, 1, step))));
            const std::vector<StoredStep> steps = store->ended_steps(JobId{3}, 1).value();
            RC_ASSERT(steps.size() == 1u);
            StoredState names;
            names.step_nodes[3] = {steps[0].node_names};
            Job job = simple_job(3);
            job.run.steps = {std::make_shared<const Step>(steps[0].step)};
            RC_ASSERT(*resolved(job, names).run.steps[0] == step);
            Batch done;
            done.changes.accounted = {{JobId{3}, 1, kBatchStep}};
            RC_ASSERT(bool(store->commit(done)));
        }));
    }
}

// "3/0": run 0 of job 3. "3/0.2": its step 2.
std::vector<std::string> ended_in(Store& store) {
    std::vector<std::string> keys;
    for (const StoredRun& run : store.ended_runs(100).value()) {
        const std::uint32_t restarts = run.job.run.restarts;
        const auto key = fmt::format("{}/{}", run.job.id.value, restarts);
        keys.push_back(key);
        for (const StoredStep& row : store.ended_steps(run.job.id, restarts).value())
            keys.push_back(fmt::format("{}.{}", key, row.step.id.value));
    }
    return keys;
}

TEST_F(EveryStore, KeepsOneRowOfEachEndedRunUntilItIsAccounted) {
    using Keys = std::vector<std::string>;
    for (const auto& store : stores_) {
        Batch batch = batch_of({simple_job(3)});
        for (const auto& [id, restarts] : {std::pair{3u, 1u}, {3u, 0u}, {4u, 0u}, {3u, 1u}}) {
            auto job = std::make_shared<Job>(simple_job(id));
            job->run.restarts = restarts;
            batch.changes.ended_runs.push_back({ShownState::Requeued, job});
            auto step = std::make_shared<Step>();
            step->id = StepId{restarts};
            batch.changes.ended_steps.push_back({job->id, restarts, step});
        }
        ASSERT_TRUE(store->commit(batch));
        EXPECT_EQ(ended_in(*store), (Keys{"3/0", "3/0.0", "3/1", "3/1.1", "4/0", "4/0.0"}));
        EXPECT_EQ(store->ended_runs(1)->size(), 1u);
        EXPECT_EQ(store->load()->jobs.size(), 1u) << "they are no jobs";

        Batch done;
        done.changes.accounted = {{JobId{3}, 0, kBatchStep}};
        ASSERT_TRUE(store->commit(done));
        EXPECT_EQ(ended_in(*store), (Keys{"3/1", "3/1.1", "4/0", "4/0.0"}));
        done.changes.accounted = {{JobId{3}, 7, kBatchStep}, {JobId{4}, 0, kBatchStep}};
        ASSERT_TRUE(store->commit(done));
        EXPECT_EQ(ended_in(*store), Keys{});
        EXPECT_TRUE(store->ended_steps(JobId{3}, 1)->empty());
    }
}

TEST_F(EveryStore, KeepsABlobAsLongAsAJobNamesIt) {
    const Blob script = blob_of(std::string("#!/bin/sh\n\0x", 12));
    for (const auto& store : stores_) {
        ASSERT_TRUE(store->commit(
            batch_of({simple_job(1, script.hash), simple_job(2, script.hash)}, {script})));
        Batch forget;
        forget.changes.forgotten = {JobId{1}};
        ASSERT_TRUE(store->commit(forget));
        EXPECT_EQ(store->blob(script.hash).value(), script.bytes);
        forget.changes.forgotten = {JobId{2}};
        ASSERT_TRUE(store->commit(forget));
        EXPECT_FALSE(store->has_blob(script.hash).value());
        EXPECT_EQ(store->blob(script.hash).error().code, ErrorCode::NotFound);
    }
}

TEST_F(EveryStore, ABlobThatChangesHandsInOneBatchStays) {
    const Blob script = blob_of("script");
    for (const auto& store : stores_) {
        ASSERT_TRUE(store->commit(batch_of({simple_job(1, script.hash)}, {script})));
        Batch batch = batch_of({simple_job(2, script.hash)}, {script});
        batch.changes.forgotten = {JobId{1}};
        ASSERT_TRUE(store->commit(batch));
        EXPECT_EQ(store->blob(script.hash).value(), "script");

        ASSERT_TRUE(store->commit(batch_of({simple_job(2)})));
        EXPECT_FALSE(store->has_blob(script.hash).value()) << "the job now has another request";
    }
}

TEST_F(EveryStore, TakesBatchesOfTheLastWriterOnly) {
    for (const auto& store : stores_) {
        const Epoch first = store->take_epoch().value();
        Batch batch = batch_of({simple_job(1)});
        batch.epoch = first;
        ASSERT_TRUE(store->commit(batch));
        const Epoch second = store->take_epoch().value();
        EXPECT_GT(second, first);
        batch = batch_of({simple_job(2)});
        batch.epoch = first;
        const CommitOutcome refused = store->commit(batch);
        EXPECT_EQ(refused.kind, CommitOutcome::Kind::Fenced);
        EXPECT_NE(refused.why.find("another controller"), std::string::npos) << refused.why;
        EXPECT_EQ(store->load()->jobs.size(), 1u);
        batch.epoch = second;
        EXPECT_TRUE(store->commit(batch));
        EXPECT_EQ(store->load()->jobs.size(), 2u);
    }
}

// Simulations and tests use this store: it finds what a restart would refuse when it is written.
TEST(MemoryStore, RefusesARowThatCouldNotBeReadBack) {
    const auto store = memory_store();
    Job job = simple_job(1);
    job.run.suspended = Seconds{-1};
    ASSERT_FALSE(store->commit(batch_of({job})));
    job.run.suspended = Seconds{0};
    job.admin_comment = std::string(1025, 'x');
    ASSERT_FALSE(store->commit(batch_of({job})));
    job.admin_comment.pop_back();
    EXPECT_TRUE(store->commit(batch_of({job})));
    EXPECT_EQ(store->load()->jobs.size(), 1u);
}

TEST(BlobHash, IsSha256) {
    EXPECT_EQ(blob_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sluice
