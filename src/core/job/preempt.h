// core/job/preempt.h
//
// Preemption of a running job: how, after how much grace time, and what happens to it.
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
// Whether `job`, which is to start in `partition`, may preempt `victim`.
bool may_preempt(const Cluster& cluster, const Job& job, const Partition& partition,
                 const Job& victim, Time now);

// Warns the job (SIGCONT and SIGTERM, or its own signal with send_user_signal) and ends it after
// its grace time. `preemptor` gets its resources.
void preempt_job(Cluster& cluster, Time now, JobId id, JobId preemptor, Effects& effects);
// The grace time is over.
void end_preempted(Cluster& cluster, Time now, JobId id, Effects& effects);
// How a preempted job ends: requeued or for good.
KillReason reason_to_end_preempted(const Cluster& cluster, const Job& job);
// Compat: a job that ends within its grace time is requeued whatever its exit code: a script that
// saves its work and exits 0 has not finished it. A job that would be cancelled instead counts as
// completed if it succeeds.
bool counts_as_preempted(const Cluster& cluster, const Job& job, const ExitStatus& exit);

}  // namespace sluice
