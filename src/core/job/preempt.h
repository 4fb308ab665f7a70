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

// Tells the job (SIGCONT, SIGTERM) and ends it when its grace time is over.
void preempt_job(Cluster& cluster, Time now, JobId id, Effects& effects);
// The grace time is over.
void end_preempted(Cluster& cluster, Time now, JobId id, Effects& effects);
// What ends a preempted job: to be run again, or for good.
KillReason reason_to_end_preempted(const Cluster& cluster, const Job& job);

}  // namespace sluice
