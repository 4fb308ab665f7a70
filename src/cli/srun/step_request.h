// cli/srun/step_request.h
//
// What srun says to the controller and to the nodes. Pure: values in, messages out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "surface/job_options.h"
#include "wire.pb.h"

namespace sluice {

// In a job of its own (`own_job`) a step takes all of it.
// Which devices each task sees: what was asked for, or follows from --gpus-per-task and
// --ntasks-per-gpu. Empty: all of the step's.
std::string step_binding(const JobOptions& options);

// How its tasks are bound to CPUs: as --cpu-bind, with what follows from other options.
void set_task_binding(const JobOptions& options, wire::TaskSpec& spec);

wire::CreateStep step_request(const JobOptions& options, std::uint32_t job, bool own_job);

// Which tasks run on which node, in the order of the step's nodes. `hosts` lists the node of each
// task, for an arbitrary distribution.
std::vector<std::vector<std::uint32_t>> task_layout(const wire::StepCreated& step,
                                                    const std::string& hosts);

std::uint32_t task_count(const wire::StepCreated& step);
// For --verbose: "jobid 8: nodes(2):`n[1-2]', cpu counts: 4(x2)".
std::string allocation_line(const wire::JobAllocation& job);

// What the nodes of a step are told alike, and what each one is told besides:
// protocol/launch_tree.h.
struct StepLaunch {
    wire::LaunchTasks common;
    std::vector<wire::LaunchTasks> nodes;
};
StepLaunch launch_messages(const wire::StepCreated& step, const wire::TaskSpec& spec,
                           const std::string& hosts);

}  // namespace sluice
