// model/gpu_bind.h
//
// Which of a step's GPUs each of its tasks sees: --gpu-bind, and --tres-bind for GPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

struct GpuBind {
    enum class Kind : std::uint8_t { None, Closest, Single, PerTask, Listed };
    using Gpus = std::vector<std::uint32_t>;

    Kind kind = Kind::None;
    bool verbose = false;
    std::uint32_t count = 1;   // Single: tasks on each GPU; PerTask: GPUs for each task
    std::vector<Gpus> listed;  // Listed (map, mask): by the task's index on its node, repeated
    bool operator==(const GpuBind&) const = default;
};

// "[verbose,]none|closest|single:N|per_task:N|map:0,1*2|mask:0x3,c"; map_gpu and mask_gpu too.
Result<GpuBind> parse_gpu_bind(std::string_view text);

// Parses --tres-bind: "gres/gpu:single:1". Other resources than GPUs are refused by name.
Result<GpuBind> parse_tres_bind(std::string_view text);

// A step's GPUs on one node, and its tasks there.
struct StepGpus {
    GpuBind::Gpus all;      // the node's numbers, ascending
    GpuBind::Gpus close;    // to the CPUs of the tasks; empty: unknown
    bool relative = false;  // lists count from the first GPU of the step, not of the node
    std::size_t tasks = 1;  // on the node
};

struct TaskGpus {
    GpuBind::Gpus gpus;
    bool too_few = false;    // fewer than per_task asks for
    bool fell_back = false;  // none of the named ones is the step's: it gets the first one
};

// `local`: the task's index on the node.
TaskGpus gpus_of_task(const GpuBind& bind, const StepGpus& step, std::size_t local);

}  // namespace sluice
