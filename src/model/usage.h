// model/usage.h
//
// What the processes of a batch script or a step have used, as measured by slurmstepd.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace sluice {

using Microseconds = std::chrono::duration<std::int64_t, std::micro>;

// One resource over the tasks of a step: for sums, averages, and the tasks with most and least.
struct TaskAmounts {
    std::uint64_t total = 0;
    std::uint64_t most = 0;
    std::string most_node;
    std::uint32_t most_task = 0;
    std::uint64_t least = 0;
    std::string least_node;
    std::uint32_t least_task = 0;
    bool operator==(const TaskAmounts&) const = default;
};

// Sampled per task (JobAcctGatherType). Of memory the peak of each task counts.
struct TaskUsage {
    std::uint32_t tasks = 0;  // that were measured: averages divide by it
    TaskAmounts cpu_ms, rss_kb, vm_kb, pages, read_bytes, written_bytes, gpu_percent, gpu_memory_kb;
    std::uint64_t energy_joules = 0;
    std::uint32_t cpu_khz = 0;  // the average frequency
    bool operator==(const TaskUsage&) const = default;
};

struct Usage {
    Microseconds cpu_user{0};
    Microseconds cpu_system{0};
    std::uint64_t rss_max_kb = 0;                      // the most memory on one node
    std::string rss_max_node;                          // the name of that node
    std::shared_ptr<const TaskUsage> tasks = nullptr;  // absent: not sampled

    // By value.
    bool operator==(const Usage& other) const {
        return cpu_user == other.cpu_user && cpu_system == other.cpu_system &&
               rss_max_kb == other.rss_max_kb && rss_max_node == other.rss_max_node &&
               (tasks == other.tasks || (tasks && other.tasks && *tasks == *other.tasks));
    }
};

// Adds other tasks of the same step: amounts are added, most and least keep their node and task.
void add_tasks(TaskUsage& total, const TaskUsage& part);

// Adds the usage of one more node: CPU times are added, of the memory the largest value counts.
void add_usage(Usage& total, const Usage& part);

}  // namespace sluice
