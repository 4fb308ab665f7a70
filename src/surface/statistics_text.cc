#include <fmt/format.h>

#include <ctime>
#include <iterator>

#include "surface/statistics.h"
#include "surface/statistics_derived.h"

namespace sluice {

namespace {

constexpr std::string_view kStars = "*******************************************************\n";

// "Sun Nov 15 20:44:45 2026 (1794775485)"
std::string date_and_number(Time time) {
    const std::time_t seconds = to_unix(time);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
    return fmt::format("{} ({})", std::string_view(text, size), seconds);
}

template <typename... Values>
void add_line(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
    out += '\n';
}

void add_daemon(const Statistics& statistics, std::string& out) {
    out += kStars;
    add_line(out, "sdiag output at {}", date_and_number(statistics.time));
    add_line(out, "Data since      {}", date_and_number(statistics.since));
    out += kStars;
    add_line(out, "Server thread count:  {}", statistics.active_requests);
    add_line(out, "RPC queue enabled:    0");
    add_line(out, "Agent queue size:     {}", statistics.waiting_orders);
    add_line(out, "Agent count:          {}", statistics.order_batches);
    add_line(out, "Agent thread count:   {}", agent_threads(statistics));
    add_line(out, "DBD Agent queue size: {}\n", statistics.waiting_facts);
}

void add_jobs(const Statistics& statistics, std::string& out) {
    const JobTally& jobs = statistics.jobs;
    add_line(out, "Jobs submitted: {}", jobs.submitted);
    add_line(out, "Jobs started:   {}", jobs.started);
    add_line(out, "Jobs completed: {}", jobs.completed);
    add_line(out, "Jobs canceled:  {}", jobs.cancelled);
    add_line(out, "Jobs failed:    {}\n", jobs.failed);
    add_line(out, "Job states ts:  {}", date_and_number(statistics.job_states_time));
    add_line(out, "Jobs pending:   {}", statistics.jobs_pending);
    add_line(out, "Jobs running:   {}", statistics.jobs_running);
}

// Means are not shown before the first pass, and rates not in the first minute.
void add_quick_passes(const Statistics& statistics, std::string& out) {
    const PassStatistics& passes = statistics.quick_passes;
    const std::uint64_t minutes = minutes_counted(statistics);
    add_line(out, "\nMain schedule statistics (microseconds):");
    add_line(out, "\tLast cycle:   {}", passes.last_time);
    add_line(out, "\tMax cycle:    {}", passes.max_time);
    add_line(out, "\tTotal cycles: {}", passes.count);
    if (passes.count > 0) {
        add_line(out, "\tMean cycle:   {}", mean_of(passes.total_time, passes.count));
        add_line(out, "\tMean depth cycle:  {}", mean_of(passes.total_depth, passes.count));
    }
    if (minutes > 0) add_line(out, "\tCycles per minute: {}", passes.count / minutes);
    add_line(out, "\tLast queue length: {}", passes.last_queue);
    add_line(out, "\nMain scheduler exit:");
    add_line(out, "\tEnd of job queue: {}", passes.count);
    for (std::string_view never :
         {"Hit default_queue_depth", "Hit sched_max_job_start", "Blocked on licenses",
          "Hit max_rpc_cnt", "Timeout (max_sched_time)"})
        add_line(out, "\t{}: 0", never);
}

void add_full_passes(const Statistics& statistics, std::string& out) {
    const PassStatistics& passes = statistics.full_passes;
    const bool has_means = passes.count > 0;
    const auto add_mean = [&](std::string_view name, std::uint64_t total) {
        if (has_means) add_line(out, "\t{}: {}", name, mean_of(total, passes.count));
    };
    add_line(out, "\nBackfilling stats");
    add_line(out, "\tTotal backfilled jobs (since last slurm start): {}",
             statistics.backfilled_ever);
    add_line(out, "\tTotal backfilled jobs (since last stats cycle start): {}",
             statistics.jobs.backfilled);
    add_line(out, "\tTotal backfilled heterogeneous job components: 0");
    add_line(out, "\tTotal cycles: {}", passes.count);
    add_line(out, "\tLast cycle when: {}",
             passes.last_start ? date_and_number(*passes.last_start) : "N/A");
    add_line(out, "\tLast cycle: {}", passes.last_time);
    add_line(out, "\tMax cycle:  {}", passes.max_time);
    add_mean("Mean cycle", passes.total_time);
    add_line(out, "\tLast depth cycle: {}", passes.last_depth);
    add_line(out, "\tLast depth cycle (try sched): {}", passes.last_tried);
    add_mean("Depth Mean", passes.total_depth);
    add_mean("Depth Mean (try depth)", passes.total_tried);
    add_line(out, "\tLast queue length: {}", passes.last_queue);
    add_mean("Queue length mean", passes.total_queue);
    add_line(out, "\tLast table size: {}", passes.last_bookings);
    add_mean("Mean table size", passes.total_bookings);
    add_line(out, "\nBackfill exit");
    add_line(out, "\tEnd of job queue: {}", end_of_queue(passes));
    add_line(out, "\tHit bf_max_job_start: 0");
    add_line(out, "\tHit bf_max_job_test: {}", passes.hit_max_job_test);
    for (std::string_view never :
         {"System state changed", "Hit table size limit (bf_node_space_size)",
          "Timeout (bf_max_time)"})
        add_line(out, "\t{}: 0", never);
}

struct RequestWidths {
    int type, user, uid;
};

void add_requests(const Statistics& statistics, const RequestWidths& widths, std::string& out) {
    const auto counts = [](const RequestCount& each) {
        return fmt::format("count:{:<6} ave_time:{:<6} total_time:{}", each.count,
                           mean_of(each.total_time, each.count), each.total_time);
    };
    add_line(out, "\nRemote Procedure Call statistics by message type");
    for (const RequestCount& each : statistics.by_type)
        add_line(out, "\t{:<{}}({:>5}) {}", each.name, widths.type, each.id, counts(each));
    add_line(out, "\nRemote Procedure Call statistics by user");
    for (const RequestCount& each : statistics.by_user)
        add_line(out, "\t{:<{}}({:>{}}) {}", user_of(each), widths.user, each.id, widths.uid,
                 counts(each));
}

}  // namespace

std::string statistics_text(const Statistics& statistics) {
    std::string out;
    add_daemon(statistics, out);
    add_jobs(statistics, out);
    add_quick_passes(statistics, out);
    add_full_passes(statistics, out);
    add_line(out, "\nLatency for 1000 calls to gettimeofday(): {} microseconds",
             statistics.clock_latency);
    add_requests(statistics, {.type = 40, .user = 16, .uid = 8}, out);
    add_line(out, "\nPending RPC statistics");
    add_line(out, "\tNo pending RPCs");
    return out;
}

std::string accounting_statistics_text(const Statistics& statistics) {
    const std::string stars(67, '*');
    const PassStatistics& roll_ups = statistics.roll_ups;
    std::string out = stars + "\n";
    add_line(out, "sacctmgr show stats output at {}", date_and_number(statistics.time));
    add_line(out, "Data since                    {}", date_and_number(statistics.since));
    add_line(out, "All statistics are in microseconds");
    add_line(out, "{}", stars);
    if (roll_ups.last_start) {
        add_line(out, "\nInternal DBD rollup last ran {}", date_and_number(*roll_ups.last_start));
        add_line(out, "\tLast cycle:   {}", roll_ups.last_time);
        add_line(out, "\tMax cycle:    {}", roll_ups.max_time);
        add_line(out, "\tTotal time:   {}", roll_ups.total_time);
        add_line(out, "\tTotal cycles: {}", roll_ups.count);
        add_line(out, "\tMean cycle:   {}", mean_of(roll_ups.total_time, roll_ups.count));
    }
    add_requests(statistics, {.type = 25, .user = 20, .uid = 10}, out);
    return out;
}

void sort_requests(Statistics& statistics, RequestOrder order) {
    const auto weight = [&](const RequestCount& each) {
        switch (order) {
            case RequestOrder::Count:
                return each.count;
            case RequestOrder::TotalTime:
                return each.total_time;
            case RequestOrder::AverageTime:
                return mean_of(each.total_time, each.count);
            case RequestOrder::Id:
                break;
        }
        return std::uint64_t{0};
    };
    for (auto* list : {&statistics.by_type, &statistics.by_user}) {
        std::sort(list->begin(), list->end(), [&](const RequestCount& a, const RequestCount& b) {
            return weight(a) != weight(b) ? weight(a) > weight(b) : a.id < b.id;
        });
    }
}

}  // namespace sluice
