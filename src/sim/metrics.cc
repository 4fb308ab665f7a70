#include "sim/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

namespace sluice {
namespace {

// Upper ends; what is larger falls into the last class.
constexpr std::uint32_t kCpuClasses[] = {1, 8, 64, 512};
constexpr std::uint32_t kGpuClasses[] = {0, 1, 4, 8, 64};

struct Collected {
    std::vector<double> waits;
    double slowdowns = 0;
    double cpu_seconds = 0, gpu_seconds = 0;

    void add(const TraceJob& job, const JobOutcome& outcome) {
        waits.push_back(wait_of(job, outcome));
        slowdowns += slowdown_of(job, outcome);
        auto run = static_cast<double>((*outcome.end - *outcome.start).count());
        cpu_seconds += run * outcome.cpus;
        gpu_seconds += run * outcome.gpus;
    }
};

// The smallest value that so many are not above; `sorted` has at least one.
double at_rank(const std::vector<double>& sorted, double share) {
    auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

Group group_of(std::string name, Collected collected) {
    Group group;
    group.name = std::move(name);
    group.jobs = collected.waits.size();
    group.cpu_hours = collected.cpu_seconds / 3600;
    group.gpu_hours = collected.gpu_seconds / 3600;
    if (collected.waits.empty()) return group;
    std::sort(collected.waits.begin(), collected.waits.end());
    auto count = static_cast<double>(group.jobs);
    group.wait_mean = std::accumulate(collected.waits.begin(), collected.waits.end(), 0.0) / count;
    group.wait_median = at_rank(collected.waits, 0.5);
    group.wait_p95 = at_rank(collected.waits, 0.95);
    group.slowdown_mean = collected.slowdowns / count;
    return group;
}

std::size_t class_of(std::uint32_t size, std::span<const std::uint32_t> classes) {
    return static_cast<std::size_t>(std::lower_bound(classes.begin(), classes.end(), size) -
                                    classes.begin());
}

std::string class_name(std::size_t index, std::span<const std::uint32_t> classes,
                       std::string_view unit) {
    if (index == classes.size()) return fmt::format("over {} {}s", classes.back(), unit);
    std::uint32_t low = index == 0 ? classes[0] : classes[index - 1] + 1;
    if (low == classes[index]) return fmt::format("{} {}{}", low, unit, low == 1 ? "" : "s");
    return fmt::format("{}-{} {}s", low, classes[index], unit);
}

// Runs that were cut short used the cluster too, suspended ones did not: so the samples say it.
double use_of(const Outcome& outcome, std::uint64_t Sample::*quantity, std::uint64_t there,
              double seconds) {
    if (there == 0 || seconds <= 0) return 0;
    double used = 0;
    for (std::size_t i = 0; i + 1 < outcome.samples.size(); ++i) {
        auto length =
            static_cast<double>((outcome.samples[i + 1].time - outcome.samples[i].time).count());
        used += length * static_cast<double>(outcome.samples[i].*quantity);
    }
    return used / (static_cast<double>(there) * seconds);
}

void count_oddities(const Trace& trace, const Outcome& outcome, Summary& summary) {
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const JobOutcome& job = outcome.jobs[i];
        summary.preemptions += job.preemptions;
        summary.cpu_hours_lost += static_cast<double>(job.cpu_seconds_lost) / 3600;
        if (job.state == JobState::Timeout) ++summary.timed_out;
        if (job.state == JobState::Preempted) ++summary.cut_short;
        if (!job.refusal.empty()) {
            if (summary.refused++ == 0) {
                summary.first_refusal = fmt::format("job {}: {}", trace.jobs[i].name, job.refusal);
            }
        } else if (!job.end) {
            ++summary.never_started;
        }
    }
}

}  // namespace

double wait_of(const TraceJob& job, const JobOutcome& outcome) {
    return static_cast<double>((*outcome.start - job.submit).count());
}

double slowdown_of(const TraceJob& job, const JobOutcome& outcome) {
    auto run = static_cast<double>((*outcome.end - *outcome.start).count());
    return std::max(1.0, (wait_of(job, outcome) + run) / std::max(run, kSlowdownBound));
}

Summary summary_of(const Trace& trace, const Outcome& outcome) {
    Summary summary;
    summary.submitted = trace.jobs.size();
    summary.moved = outcome.moved;
    summary.has_gpus = outcome.gpus > 0;
    count_oddities(trace, outcome, summary);
    summary.by_gpus = std::any_of(trace.jobs.begin(), trace.jobs.end(),
                                  [](const TraceJob& job) { return job.gpus > 0; });
    std::span<const std::uint32_t> classes = kCpuClasses;
    if (summary.by_gpus) classes = kGpuClasses;

    Collected all;
    std::map<std::string, Collected> accounts;
    std::map<std::size_t, Collected> sizes;
    Time first = trace.jobs.front().submit, last = first;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const TraceJob& job = trace.jobs[i];
        const JobOutcome& result = outcome.jobs[i];
        if (!result.end || !result.start) continue;
        last = std::max(last, *result.end);
        all.add(job, result);
        accounts[job.account].add(job, result);
        sizes[class_of(summary.by_gpus ? job.gpus : job.cpus, classes)].add(job, result);
    }
    summary.makespan = static_cast<double>((last - first).count());
    summary.all = group_of("all", std::move(all));
    for (auto& [name, collected] : accounts) {
        summary.accounts.push_back(group_of(name.empty() ? "(none)" : name, std::move(collected)));
    }
    for (auto& [index, collected] : sizes) {
        summary.sizes.push_back(group_of(
            class_name(index, classes, summary.by_gpus ? "GPU" : "CPU"), std::move(collected)));
    }
    summary.cpu_use = use_of(outcome, &Sample::cpus, outcome.cpus, summary.makespan);
    summary.gpu_use = use_of(outcome, &Sample::gpus, outcome.gpus, summary.makespan);
    return summary;
}

}  // namespace sluice
