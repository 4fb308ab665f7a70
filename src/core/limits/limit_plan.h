// core/limits/limit_plan.h
//
// When limits of QOS and associations will let a job start: jobs that hold resources give them back
// at their time limits, and a job with an estimated start takes them for as long as it may run.
// What jobs may still use (TRESRunMins) counts in full until they end.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/limits/allowance.h"
#include "core/limits/count_timeline.h"

namespace sluice {

class LimitPlan {
public:
    LimitPlan(const Cluster& cluster, Time now) : cluster_(cluster), now_(now) {}

    // The first time not before `from` at which no limit blocks it until its end; none: never.
    std::optional<Time> earliest(const Job& job, const Partition& partition, Time from);
    void take(const Job& job, const Partition& partition, Time start);

private:
    CountTimeline& line_of(const LimitCheck& check, const Job& job);

    const Cluster& cluster_;
    Time now_;
    std::map<std::string, CountTimeline> lines_;
};

}  // namespace sluice
