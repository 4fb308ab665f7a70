// core/job/dependency.h
//
// Who waits for whom. A job with conditions left is in no queue: it stands in an index under the
// jobs it names, so that a start or an end costs what depends on it. What is fulfilled is taken off
// the job's record at once and stays so, whatever becomes of the job it waited for.
#pragma once

#include <string_view>

#include "core/cluster.h"

namespace sluice {

// Reads --dependency. Refused: a job that must end well and is not known, and for a job that exists
// already (`self`), itself and a cycle.
Result<Dependency> resolve_dependency(const Cluster& cluster, std::string_view text,
                                      JobId self = JobId{0});

// A pending job's conditions are looked at anew: it is queued, or waits in the index. One that can
// never run is cancelled, if that was asked for.
void wait_for_others(Cluster& cluster, Time now, JobId id, Effects& effects);
// The delay after a start is over.
void on_dependency_timer(Cluster& cluster, Time now, JobId id, Effects& effects);

// A job has started, or is over and its nodes are clean: those that waited for that hear of it.
void tell_of_start(Cluster& cluster, Time now, JobId id);
void tell_of_end(Cluster& cluster, Time now, JobId id, Effects& effects);

// A task that was split off an array waits for the same jobs as the others.
void watch_dependency(Cluster& cluster, const Job& job);
// After a restart, once all jobs are there.
void restore_dependencies(Cluster& cluster, Time now);

// Why a job that is not held does not stand in a queue: Dependency, BeginTime, None.
Reason reason_to_wait(const Job& job, Time now);

// singleton.cc: the jobs of one user and name.
bool may_run_alone(Cluster& cluster, const Job& job);  // joins the group, if it has to wait
std::vector<JobId> earlier_of_name(const Cluster& cluster,
                                   const Job& job);            // that it waits for as a singleton
void job_is_here(Cluster& cluster, const Job& job);            // new, split off or started
void job_is_back(Cluster& cluster, Time now, const Job& job);  // requeued: others may go first
// It was alone when it was let go, but may have been held or waited for a place since.
bool is_alone_still(Cluster& cluster, const Job& job);
// It is over or has another name now: the singletons that may have waited for it.
std::vector<JobId> job_is_gone(Cluster& cluster, const Job& job);

}  // namespace sluice
