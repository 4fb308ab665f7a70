// cli/sgpu/fetch.h
//
// The samples of GPUs, asked from the slurmd of each node.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "model/job_id.h"

namespace sluice {

// What is sampled, as the columns of --csv and the keys of --json are named.
enum class GpuValue : std::uint8_t {
    Utilization,
    UtilizationMost,
    Memory,
    Power,
    Temperature,
    SmClock,
    MemoryClock,
    Processes
};
constexpr std::size_t kGpuValues = 8;

// One GPU over time. `values` have an entry per interval; absent: not known.
struct GpuCourse {
    std::string node, uuid, type, user, out_of_service;
    std::uint32_t gpu = 0;
    std::uint32_t job = 0;  // 0: none
    std::uint64_t memory_all = 0;
    std::int64_t start = 0;
    std::uint32_t interval = 1;
    std::array<std::vector<std::optional<std::uint64_t>>, kGpuValues> values;
    std::vector<std::uint32_t> steps;
    std::uint64_t ecc_errors = 0;
    std::vector<std::uint32_t> xids;

    const std::vector<std::optional<std::uint64_t>>& of(GpuValue value) const {
        return values[static_cast<std::size_t>(value)];
    }
};

struct GpuQuestion {
    std::uint32_t job = 0;                  // 0: all GPUs
    std::optional<std::uint32_t> restarts;  // absent: the last run
    std::int64_t from = 0, to = 0;          // Unix seconds; 0: now
    std::uint32_t points = 60;
};

struct GpuNodes {
    std::vector<wire::NodeAddress> addresses;
};

// A job that runs, or one that the accounting database knows.
struct FoundJob {
    std::uint32_t id = 0;
    std::string printed, name, user, nodes, state;
    std::int64_t start = 0, end = 0;  // 0: it has not ended
};
Result<FoundJob> find_job(Client& client, const JobRef& job, const std::string& written);

// `nodes`: host list; empty: all nodes with GPUs.
Result<std::vector<wire::NodeAddress>> find_gpu_nodes(Client& client, const std::string& nodes);

// A node that does not answer is an error of `on_error`, the others are shown.
std::vector<GpuCourse> fetch_courses(Client& client, const std::vector<wire::NodeAddress>& nodes,
                                     const GpuQuestion& question,
                                     const std::function<void(const Error&)>& on_error);

}  // namespace sluice
