// core/schedule/gang.h
//
// Jobs that have to stand aside for others on their CPUs: preempted with PreemptMode=SUSPEND, or in
// turns with those they share with (GANG). Set aside they keep memory and devices, and go on by
// themselves: when their CPUs are free, or when the others have had a time slice.
#pragma once

#include "core/cluster.h"

namespace sluice {

// Suspends a running job until then; nothing for one that stands aside already.
void set_aside(Cluster& cluster, Time now, JobId id, Effects& effects);
// With GANG: all that run on CPUs of the allocation, which is about to start.
void set_aside_for(Cluster& cluster, Time now, const Allocation& allocation, Effects& effects);
// Those whose CPUs have become free, the highest tier first, then who has waited longest.
void resume_set_aside(Cluster& cluster, Time now, Effects& effects);
// Who waits changes places with those that have had their slice.
void on_time_slice(Cluster& cluster, Time now, Effects& effects);
// A job that was set aside before the controller's restart.
void keep_set_aside(Cluster& cluster, const Job& job, Time now);

}  // namespace sluice
