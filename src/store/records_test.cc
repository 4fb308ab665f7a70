// store/records_test.cc
//
// Rows that are not as they were written.
#include "store/records.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/errors.h"
#include "protocol/field_codec.h"
#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;

// A job whose nodes all have names, or an error.
void read_job_row(std::string_view row) {
    RowLoader loader;
    if (!loader.add_job(JobId{7}, row)) return;
    const StoredState state = loader.take();
    const StoredJob& stored = state.jobs.at(0);
    for_each_node(stored.job, [&](NodeIndex node) { RC_ASSERT(node.value < stored.nodes.size()); });
    RC_ASSERT(stored.job.request && stored.job.details);
}

RC_GTEST_PROP(Records, DamagedRowsAreNeverFatal, (const std::vector<std::uint32_t>& hits)) {
    std::string row = to_record(arbitrary_job(7), *node_names());
    for (const std::uint32_t hit : hits) row[hit % row.size()] = static_cast<char>(hit >> 24);
    read_job_row(row);
}

RC_GTEST_PROP(Records, RandomBytesAreNeverFatal, (const std::string& bytes)) {
    read_job_row(bytes);
    for (std::size_t kind = 0; kind <= std::variant_size_v<Fact>; ++kind)
        (void)read_fact(kind, bytes);
}

TEST(Records, ARowOfANewerVersionIsToldFromADamagedOne) {
    std::string row;
    field_codec::put(kSchemaNumber, kSchema + 1, row);
    RowLoader loader;
    const Result<void> refused = loader.add_job(JobId{7}, row);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ProtocolVersion);
    EXPECT_NE(refused.error().detail.find("job 7"), std::string::npos);
}

TEST(Records, ARowMustBeThatOfItsKey) {
    RowLoader loader;
    const Result<void> refused = loader.add_job(JobId{8}, to_record(simple_job(7), {}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), (Error{ErrorCode::StoreFailed, "it is that of another job"}));
}

TEST(Records, ANodeWithoutANameIsRefused) {
    StoredJob stored{.nodes = {}, .job = simple_job(7)};
    stored.job.run.completing_nodes = {NodeIndex{0}};
    EXPECT_FALSE(validate(stored));
    stored.nodes = {"n1"};
    EXPECT_TRUE(validate(stored));
}

}  // namespace
}  // namespace sluice
