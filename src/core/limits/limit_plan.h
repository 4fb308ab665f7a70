// core/limits/limit_plan.h
//
// When limits of QOS will let a job start: those who hold what it may have give it back at their
// time limits, and whoever is foretold a start takes it for as long as it may run.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/limits/allowance.h"
#include "core/limits/count_line.h"

namespace sluice {

class LimitPlan {
public:
    LimitPlan(const Cluster& cluster, Time now) : cluster_(cluster), now_(now) {}

    // The first moment not before `from` at which no limit keeps it, to the end of its time; none:
    // never.
    std::optional<Time> earliest(const Job& job, const Partition& partition, Time from);
    void take(const Job& job, const Partition& partition, Time start);

private:
    CountLine& line_of(const LimitCheck& check, const Job& job);

    const Cluster& cluster_;
    Time now_;
    std::map<std::string, CountLine> lines_;
};

}  // namespace sluice
