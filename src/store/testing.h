// store/testing.h
//
// Shared by the tests of the stores: jobs of all kinds, and a temporary state directory.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/node_refs.h"
#include "protocol/arbitrary.h"
#include "sql/testing.h"
#include "store/records.h"
#include "store/shared_schema.h"
#include "store/store.h"

namespace sluice::testing_store {

inline std::shared_ptr<const NodeNames> node_names() {
    static const auto names =
        std::make_shared<const NodeNames>(NodeNames{"n0", "n1", "n2", "gpu1", "gpu2"});
    return names;
}

// Points every NodeIndex of a value at one of node_names(), also in the shared parts.
template <typename Record>
void use_known_nodes(Record& record) {
    const auto count = static_cast<std::uint32_t>(node_names()->size());
    for_each_node(record, [&](NodeIndex& node) { node.value %= count; });
}

inline Step arbitrary_step() {
    Step step = arbitrary::fields<Step>();
    use_known_nodes(step);
    return step;
}

inline Job arbitrary_job(std::uint32_t id) {
    using namespace arbitrary;
    Job job = fields<Job>();
    job.id = JobId{id};
    set_request(job, request());
    use_known_nodes(job);
    job.run.licenses_held = coin() ? "" : "matlab:2";  // they are counted
    // States require these members.
    const bool has_nodes = job.run.allocation && !job.run.allocation->nodes.empty();
    if (!has_nodes && is_live(job)) job.state = JobState::Pending;
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

// A state in a database of the tests' own server; each directory has a cluster of its own.
inline SharedState shared_state(const StateDirectory& directory) {
    const auto& server = sql::testing_sql::PrivateServer::of(sql::Engine::Postgresql);
    return {server.connection(), std::filesystem::path(directory.path()).filename().string()};
}
inline bool has_postgresql() {
    return sql::testing_sql::PrivateServer::of(sql::Engine::Postgresql).is_up();
}
inline void run_shared(const SharedState& where, const std::string& statement) {
    auto database = sql::open(target_of(where));
    ASSERT_TRUE(database) << database.error().detail;
    const auto done = (*database)->run(statement);
    EXPECT_TRUE(done) << done.error().detail;
}

inline void run_sql(const std::string& file, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
}

}  // namespace sluice::testing_store
