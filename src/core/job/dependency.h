// core/job/dependency.h
//
// Dependencies between jobs. A job with unfulfilled conditions is in no queue: an index lists it
// under the jobs it names, so that a start or an end only costs what depends on it. A fulfilled
// condition is removed from the job's record at once and for good, whatever happens to the other
// job.
#pragma once

#include <string_view>

#include "core/cluster.h"

namespace sluice {

// Parses --dependency. Refuses an unknown job that would have to succeed and, for an existing job
// (`self`), the job itself and a cycle.
Result<Dependency> resolve_dependency(const Cluster& cluster, std::string_view text,
                                      JobId self = JobId{0});

// Evaluates the conditions of a pending job again: it is queued or added to the index. A job that
// can never run is cancelled, if that was requested.
void wait_for_others(Cluster& cluster, Time now, JobId id, Effects& effects);
// The delay after a start has passed.
void on_dependency_timer(Cluster& cluster, Time now, JobId id, Effects& effects);

// A job has started, or has ended and its nodes are clean: evaluates the jobs that depend on it.
void tell_of_start(Cluster& cluster, Time now, JobId id);
void tell_of_end(Cluster& cluster, Time now, JobId id, Effects& effects);

// A task that was split off an array waits for the same jobs as the other tasks.
void watch_dependency(Cluster& cluster, const Job& job);
// After a restart, once all jobs are loaded.
void restore_dependencies(Cluster& cluster, Time now);

// Why a job that is not held is not in a queue: Dependency, BeginTime, None.
Reason reason_to_wait(const Job& job, Time now);

// singleton.cc: the jobs of one user and name.
bool may_run_alone(Cluster& cluster, const Job& job);  // joins the group, if it has to wait
std::vector<JobId> earlier_of_name(const Cluster& cluster,
                                   const Job& job);            // that it waits for as a singleton
void job_is_here(Cluster& cluster, const Job& job);            // new, split off or started
void job_is_back(Cluster& cluster, Time now, const Job& job);  // requeued: others may go first
// It was alone when it was released, but may have been held or waited for nodes since.
bool is_alone_still(Cluster& cluster, const Job& job);
// It has ended or has another name now: returns the singletons that may have waited for it.
std::vector<JobId> job_is_gone(Cluster& cluster, const Job& job);

}  // namespace sluice
