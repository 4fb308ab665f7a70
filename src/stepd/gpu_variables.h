// stepd/gpu_variables.h
//
// What the processes of a step are told about their GPUs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "order.pb.h"
#include "stepd/environment.h"

namespace sluice {

// The numbers under which programs of the step know these GPUs.
std::vector<std::uint32_t> visible_numbers(const wire::StepOrder& order,
                                           const std::vector<std::uint32_t>& gpus);

// `gpus` are those of the process, by the node's numbers; `list` is the variable with these.
void set_gpu_variables(Environment& environment, const wire::StepOrder& order,
                       const std::vector<std::uint32_t>& gpus, std::string_view list);

}  // namespace sluice
