// core/job/suspend.h
//
// A suspended job: its processes are stopped, its clock too, and others may use its CPUs. Memory
// and GRES stay its own. Called by scontrol suspend and resume, and to make room for other jobs.
#pragma once

#include <optional>

#include "core/cluster.h"

namespace sluice {

// Why not; a job that is suspended already is no error.
std::optional<Error> suspend_refusal(const Job& job);
std::optional<Error> resume_refusal(const Cluster& cluster, const Job& job);
// Nothing, or why not.
std::optional<Error> suspend_job(Cluster& cluster, Time now, JobId id, Effects& effects);
// Refused (NodesBusy) while another job uses its CPUs.
std::optional<Error> resume_job(Cluster& cluster, Time now, JobId id, Effects& effects);
bool may_resume(const Cluster& cluster, const Job& job);  // its CPUs are free

// The job is about to be ended: its clock goes on, its CPUs stay with whoever has them.
void leave_suspension(Job& job, Time now);
// A node that was away may have missed that the job was stopped or woken up.
void repeat_suspension(const Job& job, NodeIndex node, Effects& effects);

}  // namespace sluice
