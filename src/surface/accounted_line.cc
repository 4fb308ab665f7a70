// See accounted_line.h.
#include "surface/accounted_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "model/filename.h"
#include "model/hostlist.h"
#include "model/job.h"

namespace sluice {

namespace {

constexpr std::string_view kUnits = "KMGTP";
// Compat: what is shown as the signal of processes that were killed for their memory.
constexpr int kOutOfMemorySignal = 125;

void truncate(const AccountedLooks& looks, ShownTimes& times) {
    if (!times.start) return;
    if (looks.from && *times.start < *looks.from) times.start = looks.from;
    if (looks.until && (!times.end || *times.end > *looks.until)) times.end = looks.until;
}

}  // namespace

ShownTimes times_of(const AccountedLine& line) {
    const AccountedJob& job = line.job();
    const Time now = line.looks->now;
    ShownTimes times;
    times.start = line.step ? line.step->start : job.start;
    times.end = line.step ? line.step->end : job.end;
    times.suspended = line.step ? line.step->suspended : job.suspended;
    if (!times.end && job.suspend_time && job.state == ShownState::Suspended) {
        times.suspended += std::max(now - *job.suspend_time, Seconds{0});
    }
    const auto before = std::pair(times.start, times.end);
    truncate(*line.looks, times);
    if (!times.start) return times;
    times.elapsed = times.end.value_or(now) - *times.start;
    // Compat: what is cut off by -T counts in full.
    if (before == std::pair(times.start, times.end)) times.elapsed -= times.suspended;
    times.elapsed = std::max(times.elapsed, Seconds{0});
    return times;
}

std::optional<Seconds> planned_time(const AccountedLine& line) {
    const AccountedJob& job = line.job();
    if (job.eligible == Time{}) return Seconds{0};
    const Time until = job.start.value_or(job.end.value_or(line.looks->now));
    if (until < job.eligible) return {};
    return until - job.eligible;
}

std::uint32_t allocated_cpus(const AccountedLine& line) {
    if (line.step) return line.step->cpus;
    auto cpus = line.job().tres_allocated.find("cpu");
    return cpus == line.job().tres_allocated.end() ? 0 : static_cast<std::uint32_t>(cpus->second);
}

Usage usage_of(const AccountedLine& line) {
    if (line.step) return line.step->usage;
    Usage total;
    for (const AccountedStep& step : line.run->steps) {
        total.cpu_user += step.usage.cpu_user;
        total.cpu_system += step.usage.cpu_system;
    }
    return total;
}

ShownState shown_state(const AccountedLine& line) {
    if (!line.step) return line.job().state;
    const bool is_suspended =
        line.job().state == ShownState::Suspended && line.step->state == ShownState::Running;
    return is_suspended ? ShownState::Suspended : line.step->state;
}

std::string job_id_text(const AccountedLine& line) {
    const AccountedJob& job = line.job();
    std::string text = fmt::to_string(job.array_job.value_or(job.job).value);
    if (line.task || job.array_task) {
        text += fmt::format("_{}", line.task ? *line.task : *job.array_task);
    } else if (!job.array_tasks.empty()) {
        std::string tasks = job.array_tasks.to_string();
        const std::size_t most = line.looks->array_text_max;
        // Compat: the limit counts the three dots and C's zero byte.
        if (most > 4 && tasks.size() > most - 4) tasks = tasks.substr(0, most - 4) + "...";
        if (job.array_limit) tasks += fmt::format("%{}", job.array_limit);
        text += fmt::format("_[{}]", tasks);
    }
    if (line.step) text += "." + print_step(line.step->step);
    return text;
}

std::string raw_job_id_text(const AccountedLine& line) {
    std::string text = fmt::to_string(line.job().job.value);
    if (line.step) text += "." + print_step(line.step->step);
    return text;
}

int shown_signal(const ExitStatus& exit) {
    return exit.oom_killed ? kOutOfMemorySignal : exit.signal;
}

std::string exit_text(const ExitStatus& exit) {
    return fmt::format("{}:{}", exit.code, shown_signal(exit));
}

std::string file_name_text(const AccountedLine& line, const std::string& pattern, bool expanded) {
    if (!expanded || pattern.empty()) return pattern;
    const AccountedJob& job = line.job();
    FilenameContext context;
    context.job = job.job;
    context.array_job = job.array_job;
    context.array_task = line.task ? line.task : job.array_task;
    if (line.step && line.step->step != kBatchStep) context.step = line.step->step;
    context.restarts = job.restarts;
    if (Result<Hostlist> nodes = Hostlist::parse(job.node_names); nodes && !nodes->empty()) {
        context.node_name = nodes->names().front();
    }
    context.user = line.looks->names->user(job.user);
    context.job_name = job.name;
    context.sluid = job.sluid ? print_sluid(job.sluid) : "";
    return expand_filename(pattern, context);
}

std::string accounted_memory_text(Megabytes megabytes, const UnitStyle& units) {
    if (megabytes == 0) return "0";
    if (units.unit == 0)
        return units.convert ? print_memory(megabytes) : fmt::format("{}M", megabytes);
    double amount = static_cast<double>(megabytes) * 1024;
    for (std::size_t i = 0; i < kUnits.find(units.unit); ++i) amount /= 1024;
    if (amount == std::floor(amount)) return fmt::format("{:.0f}{}", amount, units.unit);
    return fmt::format("{:.2f}{}", amount, units.unit);
}

std::string accounted_tres_text(const Tres& tres, const UnitStyle& units) {
    std::vector<std::string> items;
    for (const auto& [name, count] : tres) {
        items.push_back(fmt::format(
            "{}={}", name,
            name == "mem" ? accounted_memory_text(count, units) : fmt::to_string(count)));
    }
    std::sort(items.begin(), items.end());
    return join(items, ",");
}

std::string accounted_flags_text(std::uint32_t flags) {
    std::vector<std::string> words;
    if (flags & kStartedByMain) words.emplace_back("SchedMain");
    if (flags & kStartedByBackfill) words.emplace_back("SchedBackfill");
    if (flags & kStartReceived) words.emplace_back("StartReceived");
    return join(words, ",");
}

}  // namespace sluice
