// model/usage.cc
#include "model/usage.h"

#include <algorithm>
#include <limits>

#include "model/sizes.h"

namespace sluice {

namespace {

// Sums of what nodes report must not overflow, whatever they report.
std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sum = a + b;
    return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

// An empty name of the node means that the resource was not measured in this part.
void add_amounts(TaskAmounts& total, const TaskAmounts& part) {
    if (part.most_node.empty()) return;
    const bool is_first = total.most_node.empty();
    total.total = capped_sum(total.total, part.total);
    if (is_first || part.most > total.most) {
        total.most = part.most;
        total.most_node = part.most_node;
        total.most_task = part.most_task;
    }
    if (is_first || part.least < total.least) {
        total.least = part.least;
        total.least_node = part.least_node;
        total.least_task = part.least_task;
    }
}

}  // namespace

void add_tasks(TaskUsage& total, const TaskUsage& part) {
    constexpr TaskAmounts TaskUsage::*kAmounts[] = {
        &TaskUsage::cpu_ms,      &TaskUsage::rss_kb,        &TaskUsage::vm_kb,
        &TaskUsage::pages,       &TaskUsage::read_bytes,    &TaskUsage::written_bytes,
        &TaskUsage::gpu_percent, &TaskUsage::gpu_memory_kb,
    };
    for (const auto amounts : kAmounts) add_amounts(total.*amounts, part.*amounts);
    const std::uint64_t tasks = std::uint64_t{total.tasks} + part.tasks;
    // The frequency is an average: each part counts as much as it has tasks.
    if (tasks > 0) {
        total.cpu_khz = static_cast<std::uint32_t>((std::uint64_t{total.cpu_khz} * total.tasks +
                                                    std::uint64_t{part.cpu_khz} * part.tasks) /
                                                   tasks);
    }
    total.tasks = static_cast<std::uint32_t>(std::min<std::uint64_t>(tasks, sizes::kCount));
    total.energy_joules = capped_sum(total.energy_joules, part.energy_joules);
}

void add_usage(Usage& total, const Usage& part) {
    constexpr Microseconds kMost{sizes::kCpuMicroseconds};
    total.cpu_user = std::min(total.cpu_user + part.cpu_user, kMost);
    total.cpu_system = std::min(total.cpu_system + part.cpu_system, kMost);
    if (part.tasks) {
        auto tasks = total.tasks ? *total.tasks : TaskUsage{};
        add_tasks(tasks, *part.tasks);
        total.tasks = std::make_shared<const TaskUsage>(std::move(tasks));
    }
    const bool is_first = total.rss_max_node.empty();
    if (!is_first && part.rss_max_kb <= total.rss_max_kb) return;
    total.rss_max_kb = part.rss_max_kb;
    total.rss_max_node = part.rss_max_node;
}

}  // namespace sluice
