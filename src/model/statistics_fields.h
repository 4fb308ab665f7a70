// model/statistics_fields.h
//
// The members of the answer to sdiag. See fields.h.
#pragma once

#include "model/fields.h"
#include "model/statistics.h"

namespace sluice {

template <>
inline constexpr auto kFields<JobTally> = fields<JobTally>(
    field(1, "submitted", &JobTally::submitted), field(2, "started", &JobTally::started),  //
    field(3, "completed", &JobTally::completed), field(4, "cancelled", &JobTally::cancelled),
    field(5, "failed", &JobTally::failed),  //
    field(6, "backfilled", &JobTally::backfilled));

template <>
inline constexpr auto kFields<PassStatistics> = fields<PassStatistics>(
    field(1, "count", &PassStatistics::count), field(2, "last start", &PassStatistics::last_start),
    field(3, "last time", &PassStatistics::last_time),
    field(4, "max time", &PassStatistics::max_time),
    field(5, "total time", &PassStatistics::total_time),
    field(6, "last depth", &PassStatistics::last_depth),
    field(7, "total depth", &PassStatistics::total_depth),
    field(8, "last tried", &PassStatistics::last_tried),
    field(9, "total tried", &PassStatistics::total_tried),
    field(10, "last queue", &PassStatistics::last_queue),
    field(11, "total queue", &PassStatistics::total_queue),
    field(12, "last bookings", &PassStatistics::last_bookings),
    field(13, "total bookings", &PassStatistics::total_bookings),
    field(14, "hit bf_max_job_test", &PassStatistics::hit_max_job_test));

template <>
inline constexpr auto kFields<RequestCount> = fields<RequestCount>(
    field(1, "id", &RequestCount::id), field(2, "name", &RequestCount::name),
    field(3, "count", &RequestCount::count), field(4, "total time", &RequestCount::total_time));

template <>
inline constexpr auto kFields<Statistics> = fields<Statistics>(
    field(1, "time", &Statistics::time), field(2, "since", &Statistics::since),
    field(3, "active requests", &Statistics::active_requests),
    field(4, "waiting orders", &Statistics::waiting_orders),
    field(5, "order batches", &Statistics::order_batches),
    field(6, "waiting facts", &Statistics::waiting_facts), field(7, "jobs", &Statistics::jobs),
    field(8, "backfilled ever", &Statistics::backfilled_ever),
    field(9, "job states time", &Statistics::job_states_time),
    field(10, "jobs pending", &Statistics::jobs_pending),
    field(11, "jobs running", &Statistics::jobs_running),
    field(12, "quick passes", &Statistics::quick_passes),
    field(13, "full passes", &Statistics::full_passes),
    field(17, "roll-ups", &Statistics::roll_ups),
    field(14, "clock latency", &Statistics::clock_latency),
    field(15, "requests by type", &Statistics::by_type),
    field(16, "requests by user", &Statistics::by_user));

}  // namespace sluice
