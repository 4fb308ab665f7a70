#include "surface/statistics.h"
#include "surface/statistics_derived.h"

namespace sluice {

namespace {

void number(Json& json, std::string_view key, std::uint64_t value) {
    json.number(key, static_cast<std::int64_t>(value));
}

void write_zeros(Json& json, std::initializer_list<std::string_view> keys) {
    for (std::string_view key : keys) json.number(key, 0);
}

void write_daemon(Json& json, const Statistics& statistics) {
    json.optional_number("req_time", to_unix(statistics.time));
    json.optional_number("req_time_start", to_unix(statistics.since));
    number(json, "server_thread_count", statistics.active_requests);
    number(json, "agent_queue_size", statistics.waiting_orders);
    number(json, "agent_count", statistics.order_batches);
    json.number("agent_thread_count", agent_threads(statistics));
    number(json, "dbd_agent_queue_size", statistics.waiting_facts);
    number(json, "gettimeofday_latency", statistics.clock_latency);
}

void write_quick_passes(Json& json, const Statistics& statistics) {
    const PassStatistics& passes = statistics.quick_passes;
    number(json, "schedule_cycle_max", passes.max_time);
    number(json, "schedule_cycle_last", passes.last_time);
    number(json, "schedule_cycle_sum", passes.total_time);
    number(json, "schedule_cycle_total", passes.count);
    number(json, "schedule_cycle_mean", mean_of(passes.total_time, passes.count));
    number(json, "schedule_cycle_mean_depth", mean_of(passes.total_depth, passes.count));
    number(json, "schedule_cycle_per_minute", mean_of(passes.count, minutes_counted(statistics)));
    number(json, "schedule_cycle_depth", passes.total_depth);
    json.open_object("schedule_exit");
    number(json, "end_job_queue", passes.count);
    write_zeros(json, {"default_queue_depth", "max_job_start", "max_rpc_cnt", "max_sched_time",
                       "licenses"});
    json.close();
    number(json, "schedule_queue_length", passes.last_queue);
}

void write_jobs(Json& json, const Statistics& statistics) {
    const JobTally& jobs = statistics.jobs;
    number(json, "jobs_submitted", jobs.submitted);
    number(json, "jobs_started", jobs.started);
    number(json, "jobs_completed", jobs.completed);
    number(json, "jobs_canceled", jobs.cancelled);
    number(json, "jobs_failed", jobs.failed);
    number(json, "jobs_pending", statistics.jobs_pending);
    number(json, "jobs_running", statistics.jobs_running);
    json.optional_number("job_states_ts", to_unix(statistics.job_states_time));
    number(json, "bf_backfilled_jobs", statistics.backfilled_ever);
    number(json, "bf_last_backfilled_jobs", jobs.backfilled);
    json.number("bf_backfilled_het_jobs", 0);
}

void write_full_passes(Json& json, const PassStatistics& passes) {
    number(json, "bf_cycle_counter", passes.count);
    number(json, "bf_cycle_mean", mean_of(passes.total_time, passes.count));
    number(json, "bf_depth_mean", mean_of(passes.total_depth, passes.count));
    number(json, "bf_depth_mean_try", mean_of(passes.total_tried, passes.count));
    number(json, "bf_cycle_sum", passes.total_time);
    number(json, "bf_cycle_last", passes.last_time);
    number(json, "bf_cycle_max", passes.max_time);
    json.open_object("bf_exit");
    number(json, "end_job_queue", end_of_queue(passes));
    json.number("bf_max_job_start", 0);
    number(json, "bf_max_job_test", passes.hit_max_job_test);
    write_zeros(json, {"bf_max_time", "bf_node_space_size", "state_changed"});
    json.close();
    number(json, "bf_last_depth", passes.last_depth);
    number(json, "bf_last_depth_try", passes.last_tried);
    number(json, "bf_depth_sum", passes.total_depth);
    number(json, "bf_depth_try_sum", passes.total_tried);
    number(json, "bf_queue_len", passes.last_queue);
    number(json, "bf_queue_len_mean", mean_of(passes.total_queue, passes.count));
    number(json, "bf_queue_len_sum", passes.total_queue);
    number(json, "bf_table_size", passes.last_bookings);
    number(json, "bf_table_size_sum", passes.total_bookings);
    number(json, "bf_table_size_mean", mean_of(passes.total_bookings, passes.count));
    json.optional_number("bf_when_last_cycle", passes.last_start ? to_unix(*passes.last_start) : 0);
    json.boolean("bf_active", false);
}

void write_requests(Json& json, const Statistics& statistics) {
    json.open_list("rpcs_by_message_type");
    for (const RequestCount& each : statistics.by_type) {
        json.open_object();
        json.number("type_id", each.id);
        json.text("message_type", each.name);
        number(json, "count", each.count);
        write_zeros(json, {"queued", "dropped", "cycle_last", "cycle_max"});
        number(json, "total_time", each.total_time);
        json.optional_number("average_time",
                             static_cast<std::int64_t>(mean_of(each.total_time, each.count)));
        json.close();
    }
    json.close();
    json.open_list("rpcs_by_user");
    for (const RequestCount& each : statistics.by_user) {
        json.open_object();
        json.number("user_id", each.id);
        json.text("user", user_of(each));
        number(json, "count", each.count);
        number(json, "total_time", each.total_time);
        json.optional_number("average_time",
                             static_cast<std::int64_t>(mean_of(each.total_time, each.count)));
        json.close();
    }
    json.close();
    json.texts("pending_rpcs", {});
    json.texts("pending_rpcs_by_hostlist", {});
}

}  // namespace

std::string statistics_json(const Statistics& statistics, const JsonMeta& meta) {
    Json json(meta.style);
    json.open_object();
    json.open_object("statistics");
    write_daemon(json, statistics);
    write_quick_passes(json, statistics);
    write_jobs(json, statistics);
    write_full_passes(json, statistics.full_passes);
    write_requests(json, statistics);
    json.close();
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace sluice
