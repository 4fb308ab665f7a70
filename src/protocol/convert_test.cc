// protocol/convert_test.cc
#include "protocol/convert.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/errors.h"
#include "protocol/arbitrary.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

// Over the wire and back.
template <typename Value>
Value travelled(const Value& value) {
    const auto message = to_wire(value);
    const auto arrived = decode<std::decay_t<decltype(message)>>(message.SerializeAsString());
    auto back = from_wire(arrived.value());
    if (!back) ADD_FAILURE() << to_string(back.error());
    return back.value();
}

RC_GTEST_PROP(Convert, RequestsArriveUnchanged, ()) {
    const JobRequest request = arbitrary::request();
    const Result<JobRequest> arrived = decode_request(encode(request));
    RC_ASSERT(arrived.has_value());
    RC_ASSERT(*arrived == request);
}

RC_GTEST_PROP(Convert, NodeFactsArriveUnchanged, ()) {
    const auto facts = arbitrary::fields<NodeFacts>();
    RC_ASSERT(decode_facts(encode(facts)).value() == facts);
}

RC_GTEST_PROP(Convert, ReservationChangesArriveUnchanged, ()) {
    const auto change = arbitrary::fields<ReservationChange>();
    RC_ASSERT(decode_reservation_change(encode(change)).value() == change);
}

RC_GTEST_PROP(Convert, JobChangesArriveUnchanged, ()) {
    const auto change = arbitrary::fields<JobChange>();
    RC_ASSERT(decode_job_change(encode(change)).value() == change);
}

RC_GTEST_PROP(Convert, NodeChangesArriveUnchanged, ()) {
    auto change = arbitrary::fields<NodeChange>();
    change.reason = "r" + change.reason.value_or("");  // some states need one
    RC_ASSERT(decode_node_change(encode(change)).value() == change);
}

RC_GTEST_PROP(Convert, PartitionChangesArriveUnchanged, ()) {
    auto change = arbitrary::fields<PartitionChange>();
    change.members.values.nodes_text = "n[1-2]";
    RC_ASSERT(decode_partition_change(encode(change)).value() == change);
    change.members.values.nodes_text = "n[1";
    RC_ASSERT(!decode_partition_change(encode(change)));
}

RC_GTEST_PROP(Convert, FiltersArriveUnchanged, ()) {
    Filter filter;
    filter.users = arbitrary::list([] { return UserId{arbitrary::number(1u << 31)}; });
    filter.partitions = arbitrary::texts();
    filter.names = arbitrary::texts();
    filter.accounts = arbitrary::texts();
    filter.qos = arbitrary::texts();
    filter.reservations = arbitrary::texts();
    filter.nodes = arbitrary::texts();
    filter.states = arbitrary::list([] { return arbitrary::one_of(ShownState::Stopped); });
    filter.all_states = arbitrary::coin();
    filter.include_hidden = arbitrary::coin();
    filter.jobs = arbitrary::list([] {
        JobRef ref{.job = JobId{1 + arbitrary::number(100000)}};
        if (arbitrary::coin()) ref.tasks = arbitrary::task_set();
        if (arbitrary::coin()) ref.step = StepId{arbitrary::number(1000)};
        return ref;
    });
    RC_ASSERT(travelled(filter) == filter);
}

TEST(Convert, ErrorsKeepCodeAndDetail) {
    const Error error{ErrorCode::InvalidPartition, "gpu"};
    EXPECT_EQ(from_wire(to_wire(error)), error);
}

TEST(Convert, WhatIsNoErrorCodeKeepsItsDetail) {
    for (const std::uint32_t code : {0u, 70000u}) {
        wire::Error odd;
        odd.set_code(code);
        odd.set_detail("what happened");
        EXPECT_EQ(from_wire(odd).code, ErrorCode::ProtocolError);
        EXPECT_NE(from_wire(odd).detail.find("what happened"), std::string::npos);
    }
}

TEST(Convert, AMillionTasksTravelAsOneRange) {
    JobRequest request;
    request.array = parse_array("0-999999%50").value();
    EXPECT_LT(encode(request).size(), 20u);
    EXPECT_EQ(decode_request(encode(request)).value(), request);
}

TEST(Convert, ListingsArriveUnchanged) {
    Table table;
    const std::uint32_t name = table.intern("n1");
    table.set_rows(2);
    table.add_column(7).numbers = {kAbsent, kUnlimited};
    table.add_column(9).texts = {name, table.intern("")};
    table.add_column(11).numbers = {-1, 0};
    table.add_column(12).numbers = {5};
    table.add_column(13).texts = {name};
    const Table back = travelled(table);
    EXPECT_EQ(back.rows(), 2u);
    EXPECT_EQ(back.number(0, ColumnId{7}), kAbsent);
    EXPECT_EQ(back.number(1, ColumnId{7}), kUnlimited);
    EXPECT_EQ(back.text(0, ColumnId{9}), "n1");
    EXPECT_EQ(back.text(1, ColumnId{9}), "");
    EXPECT_EQ(back.number(0, ColumnId{11}), -1);
    EXPECT_EQ(back.number(1, ColumnId{11}), 0);
    EXPECT_EQ(back.number(1, ColumnId{12}), 5) << "one entry for all rows";
    EXPECT_EQ(back.text(1, ColumnId{13}), "n1");
}

TEST(Convert, ListingsThatDoNotAddUpAreRefused) {
    wire::Listing listing;
    listing.set_rows(1);
    wire::Column& column = *listing.add_columns();
    column.add_texts(0);
    EXPECT_FALSE(from_wire(listing)) << "a text that is not there";
    listing.add_strings("a");
    EXPECT_TRUE(from_wire(listing));
    column.add_texts(0);
    EXPECT_FALSE(from_wire(listing)) << "a column that is too long";
    listing.set_rows(3);
    EXPECT_FALSE(from_wire(listing)) << "a column that is too short";
    listing.set_rows(0);
    EXPECT_FALSE(from_wire(listing)) << "entries without rows";
}

// One bad value each, in an otherwise good request.
TEST(Convert, ForeignValuesAreDoubtedAndNamed) {
    struct Case {
        const char* field;
        void (*spoil)(JobRequest&);
    };
    const Case cases[] = {
        {"kind", [](JobRequest& r) { r.kind = static_cast<JobKind>(4); }},
        {"open-mode", [](JobRequest& r) { r.open_mode = static_cast<OpenMode>(3); }},
        {"umask", [](JobRequest& r) { r.umask = 01000; }},
        {"nice", [](JobRequest& r) { r.nice = -2147483647 - 1; }},
        {"begin", [](JobRequest& r) { r.begin = from_unix(-1); }},
        {"time", [](JobRequest& r) { r.time_limit = TimeLimit{Seconds{-1}}; }},
        {"exclusive", [](JobRequest& r) { r.shape.exclusive = static_cast<Exclusive>(9); }},
        {"nodes", [](JobRequest& r) { r.shape.nodes_min = 0xffffffff; }},
        {"mem", [](JobRequest& r) { r.shape.mem_per_node = ~0ull; }},
        {"signal", [](JobRequest& r) { r.warn_signal = WarnSignal{.signal = 1000}; }},
        {"job-name", [](JobRequest& r) { r.name = std::string("a\0b", 3); }},
        {"array", [](JobRequest& r) { r.array = ArraySpec{}; }},
        {"rlimits", [](JobRequest& r) { r.rlimits.resize(65); }},
        {"script arguments", [](JobRequest& r) { r.script_args = {std::string(200'000, 'a')}; }},
    };
    ASSERT_TRUE(decode_request(encode(JobRequest{})));
    for (const Case& spoiled : cases) {
        JobRequest request;
        spoiled.spoil(request);
        const auto refused = decode_request(encode(request));
        ASSERT_FALSE(refused) << spoiled.field;
        EXPECT_EQ(refused.error().detail.find(spoiled.field), 0u) << refused.error().detail;
    }
}

template <typename Message>
void decode_and_convert(const std::string& bytes) {
    const auto message = decode<Message>(bytes);
    if (message) (void)from_wire(*message);
}

RC_GTEST_PROP(Convert, RandomBytesAreNeverFatal, (const std::string& bytes)) {
    (void)decode_request(bytes);
    decode_and_convert<wire::Filter>(bytes);
    (void)decode_facts(bytes);
    (void)decode_reservation_change(bytes);
    decode_and_convert<wire::Listing>(bytes);
    decode_and_convert<wire::Error>(bytes);
}

// Better than noise: a good message with some bytes changed.
RC_GTEST_PROP(Convert, DamagedRequestsAreNeverFatal, (const std::vector<std::uint32_t>& hits)) {
    std::string bytes = encode(arbitrary::request());
    for (const std::uint32_t hit : hits) {
        bytes[hit % bytes.size()] = static_cast<char>(hit >> 24);
    }
    (void)decode_request(bytes);
}

}  // namespace
}  // namespace sluice
