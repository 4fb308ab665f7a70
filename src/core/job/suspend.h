// core/job/suspend.h
//
// Suspended jobs: their processes and their run time are stopped, and other jobs may use their
// CPUs. They keep memory and GRES. Used by scontrol suspend and resume, and for preemption.
#pragma once

#include <optional>

#include "core/cluster.h"

namespace sluice {

// Why not; suspending a suspended job is no error.
std::optional<Error> suspend_refusal(const Job& job);
std::optional<Error> resume_refusal(const Cluster& cluster, const Job& job);
// Returns nothing, or why not.
std::optional<Error> suspend_job(Cluster& cluster, Time now, JobId id, Effects& effects);
// Refused (NodesBusy) while another job uses its CPUs.
std::optional<Error> resume_job(Cluster& cluster, Time now, JobId id, Effects& effects);
bool may_resume(const Cluster& cluster, const Job& job);  // its CPUs are free

// A suspended job is about to be ended: its run time counts again, its CPUs stay lent to other
// jobs.
void leave_suspension(Job& job, Time now);
// A node that was not connected may have missed that the job was stopped or continued.
void repeat_suspension(const Job& job, NodeIndex node, Effects& effects);

}  // namespace sluice
