// core/schedule/gang.h
//
// Jobs that are suspended because other jobs use their CPUs: preempted with PreemptMode=SUSPEND, or
// taking time slices with jobs on the same CPUs (GANG). They keep memory and devices, and resume
// without a request when their CPUs are free or the other jobs have had a time slice.
#pragma once

#include "core/cluster.h"

namespace sluice {

// Suspends a running job for this reason; does nothing if it is suspended so already.
void suspend_for_cpus(Cluster& cluster, Time now, JobId id, Effects& effects);
// With GANG: suspends all jobs that run on CPUs of the allocation, which is about to start.
void suspend_for_allocation(Cluster& cluster, Time now, const Allocation& allocation,
                            Effects& effects);
// Resumes jobs whose CPUs have become free: the highest tier first, then the longest suspended.
void resume_suspended_for_cpus(Cluster& cluster, Time now, Effects& effects);
// Resumes suspended jobs in place of jobs that have had their time slice.
void on_time_slice(Cluster& cluster, Time now, Effects& effects);
// Restores a job that was suspended so before the controller's restart.
void keep_suspended_for_cpus(Cluster& cluster, const Job& job, Time now);

}  // namespace sluice
