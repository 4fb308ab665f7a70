// cli/sdiag/fake_statistics.h
//
// For tests: the statistics of a small cluster.
#pragma once

#include "model/statistics.h"

namespace sluice {

inline Statistics fake_statistics() {
    Statistics fake;
    fake.time = from_unix(1794775617);  // 2026-11-15T20:46:57 UTC
    fake.since = fake.time - Seconds{150};
    fake.active_requests = 3;
    fake.waiting_orders = 5;
    fake.order_batches = 2;
    fake.waiting_facts = 12;
    fake.jobs = {
        .submitted = 8, .started = 5, .completed = 4, .cancelled = 1, .failed = 0, .backfilled = 3};
    fake.backfilled_ever = 4;
    fake.job_states_time = fake.time;
    fake.jobs_pending = 3;
    fake.jobs_running = 2;
    fake.quick_passes = {.count = 14,
                         .last_start = fake.time,
                         .last_time = 219,
                         .max_time = 25100,
                         .total_time = 30590,
                         .last_depth = 3,
                         .total_depth = 30,
                         .last_tried = 3,
                         .total_tried = 30,
                         .last_queue = 3,
                         .total_queue = 42};
    fake.full_passes = {.count = 4,
                        .last_start = from_unix(1794775566),
                        .last_time = 4308,
                        .max_time = 52062,
                        .total_time = 57066,
                        .last_depth = 3,
                        .total_depth = 18,
                        .last_tried = 2,
                        .total_tried = 16,
                        .last_queue = 3,
                        .total_queue = 19,
                        .last_bookings = 1,
                        .total_bookings = 9,
                        .hit_max_job_test = 1};
    fake.clock_latency = 26;
    fake.by_type = {{2003, "REQUEST_JOB_INFO", 1, 606},
                    {2035, "REQUEST_STATS_INFO", 3, 32217},
                    {4003, "REQUEST_SUBMIT_BATCH_JOB", 8, 242349},
                    {5032, "REQUEST_KILL_JOB", 1, 92453},
                    {20024, "EXPLAIN_JOB", 2, 4000000000}};
    fake.by_user = {{0, "", 20, 461057}, {65534, "", 22, 4546}, {4294967290, "", 1, 7}};
    return fake;
}

}  // namespace sluice
