#include "controller/statistics.h"

#include <sys/time.h>

#include <algorithm>

#include "accounting/service.h"
#include "controller/fleet.h"
#include "controller/services.h"

namespace sluice {

namespace {

std::uint64_t measured_clock_latency() {
    constexpr int kCalls = 1000;
    const auto start = std::chrono::steady_clock::now();
    timeval time{};
    for (int i = 0; i < kCalls; ++i) gettimeofday(&time, nullptr);
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::steady_clock::now() - start)
                                          .count());
}

bool is_same_day(Time a, Time b) {
    return std::chrono::floor<std::chrono::days>(a) == std::chrono::floor<std::chrono::days>(b);
}

void add_pass(PassStatistics& passes, Time now, const PassReport& report, std::uint64_t time) {
    ++passes.count;
    passes.last_start = now;
    passes.last_time = time;
    passes.max_time = std::max(passes.max_time, time);
    passes.total_time += time;
    passes.last_depth = report.depth;
    passes.total_depth += report.depth;
    passes.last_tried = report.tried;
    passes.total_tried += report.tried;
    passes.last_queue = report.queue;
    passes.total_queue += report.queue;
    passes.last_bookings = report.bookings;
    passes.total_bookings += report.bookings;
    passes.hit_max_job_test += report.hit_max_job_test ? 1 : 0;
}

void count_states(const Snapshot& snapshot, Statistics& statistics) {
    constexpr std::uint32_t kWanted = 1u << static_cast<unsigned>(ShownState::Pending) |
                                      1u << static_cast<unsigned>(ShownState::Running);
    const auto want = [](const ChunkSummary<Job>& summary) {
        return (summary.shown_states & kWanted) != 0;
    };
    statistics.job_states_time = snapshot.time;
    snapshot.jobs.for_each(want, [&](const Job& job) {
        if (job.state == JobState::Pending) statistics.jobs_pending += count_of_jobs(job);
        if (job.state == JobState::Running) ++statistics.jobs_running;
    });
}

}  // namespace

StatisticsBook::StatisticsBook(Time now) {
    figures_.since = now;
    figures_.clock_latency = measured_clock_latency();
}

void StatisticsBook::add(Time now, const JobTally& jobs, const PassReport& pass,
                         std::chrono::microseconds time) {
    const std::lock_guard guard(mutex_);
    if (!is_same_day(now, figures_.since)) start_anew(now);
    figures_.jobs += jobs;
    figures_.backfilled_ever += jobs.backfilled;
    const auto microseconds = static_cast<std::uint64_t>(time.count());
    if (pass.kind == PassReport::Kind::Quick)
        add_pass(figures_.quick_passes, now, pass, microseconds);
    if (pass.kind == PassReport::Kind::Full)
        add_pass(figures_.full_passes, now, pass, microseconds);
}

void StatisticsBook::reset(Time now) {
    requests.reset();
    const std::lock_guard guard(mutex_);
    start_anew(now);
    figures_.backfilled_ever = 0;
}

// Compat: these values of the last pass stay.
void StatisticsBook::start_anew(Time now) {
    figures_.since = now;
    figures_.jobs = {};
    PassStatistics& quick = figures_.quick_passes;
    PassStatistics& full = figures_.full_passes;
    PassStatistics new_quick, new_full;
    new_quick.last_time = quick.last_time;
    new_quick.last_queue = quick.last_queue;
    new_full.last_start = full.last_start;
    new_full.last_bookings = full.last_bookings;
    quick = new_quick;
    full = new_full;
}

Statistics StatisticsBook::current() const {
    Statistics statistics;
    {
        const std::lock_guard guard(mutex_);
        statistics = figures_;
    }
    requests.fill(statistics);
    return statistics;
}

Statistics statistics_of(Services& services, Time now) {
    Statistics statistics = services.statistics.current();
    statistics.time = now;
    if (services.fleet) {
        const Fleet::Waiting waiting = services.fleet->waiting();
        statistics.waiting_orders = waiting.messages;
        statistics.order_batches = waiting.batches;
    }
    if (const Result<std::uint64_t> facts = services.store.fact_count())
        statistics.waiting_facts = *facts;
    if (services.accounting) statistics.roll_ups = services.accounting->roll_ups();
    if (const auto snapshot = services.published.snapshot.get())
        count_states(*snapshot, statistics);
    return statistics;
}

}  // namespace sluice
