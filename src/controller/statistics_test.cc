// controller/statistics_test.cc: counters of requests, jobs and passes, and their resets.
#include "controller/statistics.h"

#include <gtest/gtest.h>

#include "model/table.h"

namespace sluice {
namespace {

constexpr Time kNoon = from_unix(1794916800);  // 2026-11-17T12:00:00 UTC
constexpr PassReport kQuickReport{
    .kind = PassReport::Kind::Quick, .queue = 7, .depth = 2, .tried = 1, .bookings = 0};
constexpr PassReport kFullReport{.kind = PassReport::Kind::Full,
                                 .queue = 9,
                                 .depth = 8,
                                 .tried = 6,
                                 .bookings = 4,
                                 .hit_max_job_test = true};
using std::chrono::microseconds;

wire::Request ping() {
    wire::Request request;
    request.mutable_ping();
    return request;
}

TEST(RequestCounts, CountByTypeAndByUser) {
    StatisticsBook book(kNoon);
    const wire::Request request = ping();
    auto first = book.requests.start(type_of(request), UserId{1000});
    { const auto other = book.requests.start(type_of(request), UserId{0}); }
    EXPECT_EQ(book.current().active_requests, 1u);
    RequestCounts::Timer moved = std::move(first);
    moved.stop();
    moved.stop();
    const Statistics found = book.current();
    EXPECT_EQ(found.active_requests, 0u);
    ASSERT_EQ(found.by_type.size(), 1u);
    EXPECT_EQ(found.by_type[0].name, "REQUEST_PING");
    EXPECT_EQ(found.by_type[0].id, 1008u);
    EXPECT_EQ(found.by_type[0].count, 2u);
    ASSERT_EQ(found.by_user.size(), 2u);
    EXPECT_EQ(found.by_user[0].id, 0u);
    EXPECT_EQ(found.by_user[1].id, 1000u);
    EXPECT_EQ(found.by_user[1].count, 1u);
}

TEST(RequestCounts, ATimerMayOutliveTheCounters) {
    RequestCounts::Timer timer;
    {
        StatisticsBook book(kNoon);
        timer = book.requests.start(type_of(ping()), UserId{0});
    }
    timer.stop();
}

TEST(RequestTypes, HaveSlurmsNameWhereSlurmHasTheMessage) {
    wire::Request request;
    EXPECT_EQ(type_of(request).name, "UNKNOWN");
    request.mutable_list()->set_kind(static_cast<std::uint32_t>(TableKind::Nodes));
    EXPECT_EQ(type_of(request).name, "REQUEST_NODE_INFO");
    request.mutable_list()->set_kind(999);
    EXPECT_EQ(type_of(request).name, "LIST_TABLE");
    request.mutable_submit()->set_script("#!/bin/sh\n");
    EXPECT_EQ(type_of(request).number, 4003u);
    request.mutable_submit()->set_test_only(true);
    EXPECT_EQ(type_of(request).name, "REQUEST_JOB_WILL_RUN");
    request.mutable_update()->set_entity(wire::Update::PARTITION);
    request.mutable_update()->set_verb(wire::Update::DELETE);
    EXPECT_EQ(type_of(request).name, "REQUEST_DELETE_PARTITION");
    request.mutable_update()->set_entity(wire::Update::NODE);
    EXPECT_EQ(type_of(request).name, "UPDATE");
    request.mutable_explain();
    EXPECT_EQ(type_of(request).name, "EXPLAIN_JOB");
    wire::AgentReport report;
    report.mutable_job_ended();
    EXPECT_EQ(type_of(report).name, "REQUEST_COMPLETE_BATCH_SCRIPT");
}

TEST(StatisticsBook, SumsUpPassesByKind) {
    StatisticsBook book(kNoon);
    book.add(kNoon, {.submitted = 2, .started = 1, .backfilled = 1}, kQuickReport,
             microseconds{30});
    book.add(kNoon, {.submitted = 1}, kQuickReport, microseconds{10});
    book.add(kNoon + Seconds{5}, {}, kFullReport, microseconds{500});
    book.add(kNoon + Seconds{9}, {}, {}, microseconds{1});  // no pass was needed
    const Statistics found = book.current();
    EXPECT_EQ(found.jobs, (JobTally{.submitted = 3, .started = 1, .backfilled = 1}));
    EXPECT_EQ(found.backfilled_ever, 1u);
    EXPECT_EQ(found.quick_passes, (PassStatistics{.count = 2,
                                                  .last_start = kNoon,
                                                  .last_time = 10,
                                                  .max_time = 30,
                                                  .total_time = 40,
                                                  .last_depth = 2,
                                                  .total_depth = 4,
                                                  .last_tried = 1,
                                                  .total_tried = 2,
                                                  .last_queue = 7,
                                                  .total_queue = 14}));
    EXPECT_EQ(found.full_passes.count, 1u);
    EXPECT_EQ(found.full_passes.last_start, kNoon + Seconds{5});
    EXPECT_EQ(found.full_passes.total_bookings, 4u);
    EXPECT_EQ(found.full_passes.hit_max_job_test, 1u);
}

TEST(StatisticsBook, AResetByHandClearsAllCounters) {
    StatisticsBook book(kNoon);
    { const auto timer = book.requests.start(type_of(ping()), UserId{0}); }
    book.add(kNoon, {.submitted = 2, .backfilled = 1}, kFullReport, microseconds{30});
    book.add(kNoon, {}, kQuickReport, microseconds{20});
    book.reset(kNoon + Seconds{60});
    const Statistics found = book.current();
    EXPECT_EQ(found.since, kNoon + Seconds{60});
    EXPECT_EQ(found.jobs, JobTally{});
    EXPECT_EQ(found.backfilled_ever, 0u);
    EXPECT_TRUE(found.by_type.empty());
    EXPECT_TRUE(found.by_user.empty());
    EXPECT_EQ(found.quick_passes, (PassStatistics{.last_time = 20, .last_queue = 7}));
    EXPECT_EQ(found.full_passes, (PassStatistics{.last_start = kNoon, .last_bookings = 4}));
}

TEST(StatisticsBook, BeginsAnewAtMidnightAndKeepsTheCountsOfRequests) {
    StatisticsBook book(kNoon);
    { const auto timer = book.requests.start(type_of(ping()), UserId{0}); }
    const Time midnight = kNoon + std::chrono::hours{12};
    book.add(midnight - Seconds{1}, {.submitted = 2, .backfilled = 1}, {}, {});
    EXPECT_EQ(book.current().since, kNoon);
    book.add(midnight, {.submitted = 1}, {}, {});
    const Statistics found = book.current();
    EXPECT_EQ(found.since, midnight);
    EXPECT_EQ(found.jobs, JobTally{.submitted = 1});
    EXPECT_EQ(found.backfilled_ever, 1u);
    EXPECT_EQ(found.by_type.size(), 1u);
}

}  // namespace
}  // namespace sluice
