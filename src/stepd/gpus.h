// stepd/gpus.h
//
// Which GPUs each task of a step sees (--gpu-bind), and what there is to say about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "order.pb.h"

namespace sluice {

struct TaskDevices {
    std::vector<std::uint32_t> gpus;      // the node's numbers
    std::vector<std::string> complaints;  // for the step's output
    std::string binding;                  // for the task's own stderr; empty: not asked for
};

// `local` is the task's place in the order's list of tasks.
Result<TaskDevices> devices_of_task(const wire::StepOrder& order, std::size_t local);

}  // namespace sluice
