#include "cli/seff/efficiency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/times.h"

namespace sluice {

namespace {

constexpr double kMargin = 1.2;  // of what was used, for the next request
constexpr std::uint64_t kMemoryLeastMb = 16;
constexpr Seconds kTimeLeast{60};
constexpr Seconds kShort{10};  // less says nothing about the CPUs

std::uint64_t amount_of(const Tres& tres, const std::string& name) {
    const auto found = tres.find(name);
    return found == tres.end() ? 0 : found->second;
}

// The steps of a job may have run one after the other: the largest counts.
void take_memory(const AccountedStep& step, Efficiency& result) {
    const Usage& usage = step.usage;
    const bool is_sampled = usage.tasks && usage.tasks->rss_kb.total > 0;
    const std::uint64_t all = is_sampled ? usage.tasks->rss_kb.total : usage.rss_max_kb;
    const std::uint64_t nodes = std::max(1u, step.node_count);
    const std::uint64_t one = is_sampled ? std::max(usage.tasks->rss_kb.most, all / nodes) : all;
    result.memory_node_kb = std::max(result.memory_node_kb, one);
    if (all <= result.memory_kb) return;
    result.memory_kb = all;
    result.memory_is_sum = is_sampled && usage.tasks->tasks > 1;
}

void take_gpus(const AccountedStep& step, Efficiency& result) {
    if (!step.usage.tasks || step.usage.tasks->gpu_percent.most_node.empty()) return;
    const TaskUsage& tasks = *step.usage.tasks;
    const double percent = static_cast<double>(tasks.gpu_percent.total);
    const double share = percent / static_cast<double>(std::max<std::uint64_t>(1, result.gpus));
    result.gpu_percent = std::max(result.gpu_percent.value_or(0), share);
    result.gpu_memory_kb = std::max(result.gpu_memory_kb, tasks.gpu_memory_kb.total);
}

// "1536M", "2G"
std::string memory_option(std::uint64_t megabytes) {
    if (megabytes % 1024 == 0) return fmt::format("{}G", megabytes / 1024);
    return fmt::format("{}M", megabytes);
}

std::uint64_t with_margin(double amount, double margin) {
    return static_cast<std::uint64_t>(std::ceil(amount * margin));
}

std::string suggest_memory(const AccountedJob& job, const Efficiency& used) {
    if (used.memory_allocated_mb == 0) return "";
    const std::uint64_t nodes = std::max<std::uint64_t>(1, used.nodes);
    const std::uint64_t had = used.memory_allocated_mb / nodes;  // per node
    std::uint64_t next = with_margin(static_cast<double>(used.memory_node_kb) / 1024, kMargin);
    next = std::max(next, kMemoryLeastMb);
    if (job.state == ShownState::OutOfMemory)
        next = std::max(next, with_margin(static_cast<double>(had), 1.5));
    if (next == had || used.memory_node_kb == 0) return "";
    if (!job.memory_per_cpu) return fmt::format(" --mem={}", memory_option(next));
    const std::uint64_t cpus = std::max<std::uint64_t>(1, used.cpus / nodes);
    return fmt::format(" --mem-per-cpu={}", memory_option((next + cpus - 1) / cpus));
}

std::string suggest_time(const AccountedJob& job, const Efficiency& used) {
    if (job.time_limit.unlimited()) return "";
    const Seconds limit = job.time_limit.length();
    std::uint64_t seconds = with_margin(static_cast<double>(used.elapsed.count()), kMargin);
    if (job.state == ShownState::Timeout) {
        seconds = with_margin(static_cast<double>(limit.count()), 1.5);
    }
    const auto minutes = static_cast<std::int64_t>((seconds + 59) / 60);
    const Seconds next = std::max(Seconds{minutes * 60}, kTimeLeast);
    return next == limit ? "" : fmt::format(" --time={}", print_duration(next));
}

// Only fewer CPUs can be derived from what was used, and only where one task had several.
std::string suggest_cpus(const AccountedRun& run, const Efficiency& used) {
    if (used.elapsed < kShort || used.cpus <= 1) return "";
    const double busy =
        static_cast<double>(used.cpu_used.count()) / static_cast<double>(used.elapsed.count());
    std::uint64_t tasks = 1;
    for (const AccountedStep& step : run.steps) tasks = std::max<std::uint64_t>(tasks, step.tasks);
    const auto needed = static_cast<std::uint64_t>(
        std::max(1.0, std::ceil(busy / static_cast<double>(tasks) - 0.05)));
    return needed * tasks < used.cpus ? fmt::format(" --cpus-per-task={}", needed) : "";
}

}  // namespace

Efficiency efficiency_of(const AccountedRun& run, Time now) {
    const AccountedJob& job = run.job;
    Efficiency result;
    if (job.start) {
        const Time end = job.end.value_or(now);
        result.elapsed = std::max(Seconds{0}, end - *job.start - job.suspended);
    }
    result.cpus = amount_of(job.tres_allocated, "cpu");
    result.gpus = amount_of(job.tres_allocated, "gres/gpu");
    result.nodes = std::max(1u, job.node_count);
    result.memory_allocated_mb = amount_of(job.tres_allocated, "mem");
    Microseconds cpu{0};
    for (const AccountedStep& step : run.steps) {
        cpu += step.usage.cpu_user + step.usage.cpu_system;
        take_memory(step, result);
        take_gpus(step, result);
    }
    if (job.gpu_use && job.gpu_use->use.samples > 0) result.gpu_use = job.gpu_use;
    result.cpu_used = std::chrono::duration_cast<Seconds>(cpu);
    return result;
}

std::string suggestion_for(const AccountedRun& run, const Efficiency& used) {
    std::string text =
        suggest_memory(run.job, used) + suggest_time(run.job, used) + suggest_cpus(run, used);
    if (!text.empty()) text.erase(0, 1);
    return text;
}

}  // namespace sluice
