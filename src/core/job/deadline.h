// core/job/deadline.h
//
// --deadline: a job that can no longer end in time does not start any more.
#pragma once

#include "core/cluster.h"

namespace sluice {

// Refuses a begin time and a length that do not fit before the deadline.
Result<void> check_deadline(const JobTerms& demand, Time now);
// Sets the timer of a pending job that has a deadline.
void watch_deadline(Cluster& cluster, const Job& job);
void on_deadline_timer(Cluster& cluster, Time now, JobId id, Effects& effects);
// The time limit of a job that starts now, so that it ends by its deadline.
TimeLimit limit_before_deadline(const Job& job, Time now);

}  // namespace sluice
