// store/testing.h
//
// Shared by the tests of the stores: jobs of all kinds, and a temporary state directory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "protocol/arbitrary.h"
#include "store/records.h"
#include "store/store.h"

namespace sluice::testing_store {

inline std::shared_ptr<const std::vector<std::string>> node_names() {
    static const auto names = std::make_shared<const std::vector<std::string>>(
        std::vector<std::string>{"n0", "n1", "n2", "gpu1", "gpu2"});
    return names;
}

inline Run arbitrary_run(std::uint32_t node_count) {
    using namespace arbitrary;
    Run run;
    run.restarts = number(10);
    run.sluid = *rc::gen::arbitrary<std::uint64_t>();
    run.start_time = maybe_time();
    run.end_time = maybe_time();
    run.suspended = Seconds{number(100000)};
    run.suspend_time = maybe_time();
    run.preempt_time = maybe_time();
    run.last_checkpoint = maybe_time();
    run.cpus_lent = coin();
    run.awaits_cpus = coin();
    run.licenses_held = coin() ? "" : "matlab:2";
    run.reservation = text();
    Allocation allocation{node_shares(node_count), text()};
    for (const NodeShare& share : allocation.nodes) {
        if (coin()) run.completing_nodes.push_back(share.node);
    }
    if (!allocation.nodes.empty()) run.allocation = std::make_shared<const Allocation>(allocation);
    run.launched = coin();
    if (coin()) run.kill_reason = one_of(KillReason::PreemptedRequeue);
    if (coin()) run.killed_by = UserId{number(70000)};
    run.warned = coin();
    run.exit = exit_status();
    run.derived_exit = exit_status();
    run.usage = usage();
    for (const Step& made : list([&] { return step(node_count); })) {
        run.steps.push_back(std::make_shared<const Step>(made));
    }
    run.next_step = number(100);
    return run;
}

inline Job arbitrary_job(std::uint32_t id) {
    using namespace arbitrary;
    Job job;
    job.id = JobId{id};
    set_request(job, request());
    job.user = UserId{number(70000)};
    job.group = GroupId{number(70000)};
    job.state = one_of(JobState::OutOfMemory);
    job.reason = one_of(static_cast<Reason>(kReasonCount - 1));
    job.reason_detail = text();
    job.partition = text();
    job.time_limit = time_limit();
    job.priority = *rc::gen::arbitrary<std::uint32_t>();
    job.priority_by_hand = coin();
    job.site_factor = *rc::gen::arbitrary<std::int32_t>();
    job.admin_hold = *rc::gen::arbitrary<bool>();
    if (coin()) job.array_job = JobId{number(1000)};
    job.array_task = maybe_number();
    if (coin()) job.array_tasks = task_set();
    job.array_limit = number(100);
    job.submit_time = time();
    job.eligible_time = time();
    job.last_sched_eval = maybe_time();
    for (std::uint32_t i = number(3); i > 0; --i) {
        Condition condition{.kind = one_of(DependencyKind::Expand), .job = JobId{number(1000)}};
        condition.task = maybe_number();
        condition.all_tasks = coin();
        condition.delay = Minutes{number(1000)};
        condition.failed = coin();
        condition.seen_failure = coin();
        condition.due = maybe_time();
        job.dependency.left.push_back(condition);
        job.dependency.any = coin();
    }
    job.idempotency_key = *rc::gen::arbitrary<std::string>();
    job.admin_comment = text();
    job.run = arbitrary_run(static_cast<std::uint32_t>(node_names()->size()));
    // States require these members.
    if (!job.run.allocation && is_live(job)) job.state = JobState::Pending;
    if (is_live(job)) job.run.start_time = job.run.suspend_time = time();
    if (is_finished(job.state)) job.run.end_time = time();
    return job;
}

// A simple job for tests of the store's behaviour.
inline Job simple_job(std::uint32_t id, const std::string& script_hash = "") {
    Job job;
    job.id = JobId{id};
    JobRequest request;
    request.name = "job" + std::to_string(id);
    request.script_hash = script_hash;
    set_request(job, request);
    job.submit_time = from_unix(1'700'000'000);
    return job;
}

inline Batch batch_of(std::vector<Job> jobs, std::vector<Blob> blobs = {}) {
    Batch batch;
    batch.node_names = node_names();
    batch.blobs = std::move(blobs);
    for (Job& job : jobs) batch.changes.jobs.push_back(std::make_shared<const Job>(std::move(job)));
    return batch;
}

inline Blob blob_of(const std::string& bytes) {
    return {blob_hash(bytes), bytes};
}

// Replaces positions in lists of names by indexes of node_names().
inline Job resolved(Job job, const StoredState& state) {
    const auto index_of = [](const std::string& name) {
        const auto& names = *node_names();
        const auto at = std::find(names.begin(), names.end(), name);
        EXPECT_NE(at, names.end()) << name;
        return NodeIndex{static_cast<std::uint32_t>(at - names.begin())};
    };
    if (job.run.allocation) {
        Allocation allocation = *job.run.allocation;
        for (NodeShare& share : allocation.nodes) {
            share.node = index_of(state.allocation_nodes.at(job.id.value).at(share.node.value));
        }
        job.run.allocation = std::make_shared<const Allocation>(allocation);
    }
    for (NodeIndex& node : job.run.completing_nodes) {
        node = index_of(state.completing_nodes.at(job.id.value).at(node.value));
    }
    for (std::size_t i = 0; i < job.run.steps.size(); ++i) {
        Step step = *job.run.steps[i];
        const auto& names = state.step_nodes.at(job.id.value).at(i);
        for (NodeShare& share : step.nodes) share.node = index_of(names.at(share.node.value));
        for (NodeIndex& node : step.nodes_left) node = index_of(names.at(node.value));
        job.run.steps[i] = std::make_shared<const Step>(step);
    }
    return job;
}

class StateDirectory {
public:
    StateDirectory() {
        std::string pattern = ::testing::TempDir() + "storeXXXXXX";
        EXPECT_NE(mkdtemp(pattern.data()), nullptr);
        path_ = pattern;
    }
    ~StateDirectory() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }
    std::string file() const { return path_ + "/sluice.db"; }

private:
    std::string path_;
};

}  // namespace sluice::testing_store
