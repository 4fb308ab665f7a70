// core/job/used_minutes.cc: ends jobs when their QOS or association has used up its GrpTRESMins.
#include "core/job/verbs.h"
#include "core/limits/allowance.h"

namespace sluice {

void watch_used_minutes(Cluster& cluster, Time now) {
    if (ends_jobs_by_minutes(cluster))
        cluster.add_timer({next_minute(now), TimerKind::UsedMinutes, 0});
}

void on_used_minutes_timer(Cluster& cluster, Time now, Effects& effects) {
    for (JobId id : jobs_out_of_minutes(cluster, now))
        end_running(cluster, now, id, KillReason::TimeLimit, effects);
    watch_used_minutes(cluster, now);
}

}  // namespace sluice
