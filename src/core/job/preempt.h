// core/job/preempt.h
//
// A running job has to make room for another: how, after how much grace, and what becomes of it.
#pragma once

#include "core/cluster.h"

namespace sluice {

struct PreemptRule {
    PreemptMode mode = PreemptMode::Off;
    Seconds grace{0};
    Seconds exempt{0};
};

// How `victim` is preempted, by its partition or QOS (core/schedule/preempt.cc).
PreemptRule preempt_rule(const Cluster& cluster, const Job& victim);
// May `job`, wanting to start in `partition`, take the victim's place?
bool may_preempt(const Cluster& cluster, const Job& job, const Partition& partition,
                 const Job& victim, Time now);

// Tells the job (SIGCONT, SIGTERM) and ends it when its grace time is over. `preemptor` gets its
// resources.
void preempt_job(Cluster& cluster, Time now, JobId id, JobId preemptor, Effects& effects);
// The grace time is over.
void end_preempted(Cluster& cluster, Time now, JobId id, Effects& effects);
// What ends a preempted job: to be run again, or for good.
KillReason reason_to_end_preempted(const Cluster& cluster, const Job& job);
// Compat: a job that ends within its grace time is requeued whatever its exit code: a script that
// saves its work and exits 0 has not finished it. A job that would be cancelled instead counts as
// completed if it succeeds.
bool counts_as_preempted(const Cluster& cluster, const Job& job, const ExitStatus& exit);

}  // namespace sluice
