// core/limits/usage.h
//
// Adds what jobs use to the book of usage (usage_book.h): of running jobs at each calculation of
// priorities, and of each run when it ends. What is in the book already is kept with the run
// (Run::accounted), so that nothing is counted twice or lost by a restart.
#pragma once

#include "core/cluster.h"

namespace sluice {

// Whether usage is recorded: where priorities are calculated, and associations or limits of QOS
// depend on it.
bool keeps_usage(const Cluster& cluster);

// How long the run has had its resources, without suspensions.
Seconds run_time(const Job& job, Time now);

// Counts the run up to now, or to its end. To be called when it ends, and before what it holds or
// the account that it is charged to changes. `job` is being edited.
void count_usage(Cluster& cluster, Time now, Job& job);

// Each PriorityCalcPeriod: usage decays, or is reset, and that of running jobs is added.
void advance_usage(Cluster& cluster, Time now);
// PriorityUsageResetPeriod=NOW: at the start and when slurm.conf is read again.
void reset_usage_if_asked(Cluster& cluster, Time now);
// Adds what imported runs used, with the decay since they ended. Each import counts once.
void import_usage(Cluster& cluster, Time now, const UsageImport& import);
// Usage of associations that no longer exist is forgotten.
void forget_unknown_usage(Cluster& cluster);

}  // namespace sluice
