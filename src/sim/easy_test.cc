// sim/easy_test.cc
//
// Compares the core with a simple EASY backfill: jobs in order of arrival, a booking for the first
// that does not fit, and other jobs start if they do not delay it. Processors have no identity
// there; the core gets one large node, or as many small ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "sim/generate.h"
#include "sim/metrics.h"
#include "sim/world.h"

namespace sluice {
namespace {

struct Running {
    std::int64_t end, planned_end;  // as it turns out, as the user estimated
    std::uint32_t cpus;
};

class Easy {
public:
    Easy(const Trace& trace, std::uint32_t processors) : trace_(trace), free_(processors) {}

    double mean_wait() {
        std::size_t next = 0;
        while (next < trace_.jobs.size() || !queue_.empty() || !running_.empty()) {
            std::int64_t now =
                next < trace_.jobs.size() ? to_unix(trace_.jobs[next].submit) : INT64_MAX;
            for (const Running& job : running_) now = std::min(now, job.end);
            std::erase_if(running_, [&](const Running& job) {
                if (job.end > now) return false;
                free_ += job.cpus;
                return true;
            });
            while (next < trace_.jobs.size() && to_unix(trace_.jobs[next].submit) <= now)
                queue_.push_back(next++);
            pass(now);
        }
        return waits_ / static_cast<double>(trace_.jobs.size());
    }

private:
    void start(std::int64_t now, const TraceJob& job) {
        std::int64_t limit = job.limit->count();
        running_.push_back({now + std::min(job.duration.count(), limit), now + limit, job.cpus});
        free_ -= job.cpus;
        waits_ += static_cast<double>(now - to_unix(job.submit));
    }

    void pass(std::int64_t now) {
        while (!queue_.empty() && trace_.jobs[queue_.front()].cpus <= free_) {
            start(now, trace_.jobs[queue_.front()]);
            queue_.pop_front();
        }
        if (queue_.empty()) return;
        // When the first can start at the latest, and what is left over beside it then.
        std::sort(running_.begin(), running_.end(),
                  [](const Running& a, const Running& b) { return a.planned_end < b.planned_end; });
        std::uint32_t wanted = trace_.jobs[queue_.front()].cpus, available = free_;
        std::int64_t shadow = now;
        for (std::size_t i = 0; i < running_.size(); ++i) {
            if (available >= wanted && running_[i].planned_end > shadow) break;
            available += running_[i].cpus;
            shadow = running_[i].planned_end;
        }
        std::uint32_t extra = available - wanted;
        for (std::size_t i = 1; i < queue_.size();) {
            const TraceJob& job = trace_.jobs[queue_[i]];
            bool in_time = now + job.limit->count() <= shadow;
            if (job.cpus > free_ || (!in_time && job.cpus > extra)) {
                ++i;
                continue;
            }
            if (!in_time) extra -= job.cpus;
            start(now, job);
            queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    const Trace& trace_;
    std::uint32_t free_;
    std::vector<Running> running_;
    std::deque<std::size_t> queue_;
    double waits_ = 0;
};

TEST(EasyBackfill, TheCoreWaitsAsLongAsThePlainAlgorithm) {
    constexpr std::uint32_t kProcessors = 64;
#ifdef SLUICE_SANITIZED
    constexpr std::uint64_t kSeeds = 1;  // a sanitized build takes fifty times as long
    constexpr std::uint32_t kJobs = 300;
#else
    constexpr std::uint64_t kSeeds = 3;
    constexpr std::uint32_t kJobs = 1500;
#endif
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        for (double load : {0.6, 0.8, 0.95}) {
            Trace trace =
                generate({.jobs = kJobs, .processors = kProcessors, .load = load, .seed = seed});
            double easy = Easy(trace, kProcessors).mean_wait();
            for (std::uint32_t nodes : {1u, kProcessors}) {
                Settings settings = plain_settings(nodes, kProcessors / nodes, 0);
                settings.backfill.max_job_test = 1;       // only the first blocked job is booked
                settings.backfill.interval = Seconds{0};  // plan anew whenever anything happens
                double core =
                    summary_of(trace, World(std::move(settings), trace).run()).all.wait_mean;
                EXPECT_NEAR(core, easy, 0.01 * easy)
                    << "seed " << seed << ", load " << load << ", nodes " << nodes;
            }
        }
    }
}

}  // namespace
}  // namespace sluice
