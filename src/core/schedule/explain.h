// core/schedule/explain.h
//
// Why does it wait? Every obstacle of a pending job, found by asking the same questions as a pass
// does, of the live plan. Bookings are lifted to see what would be without them and laid again:
// nothing is changed.
#pragma once

#include "core/schedule/pass.h"
#include "core/schedule/spot.h"
#include "model/explanation.h"

namespace sluice {

Explanation explain(Cluster& cluster, Time now, JobId id);
void on_explain_job(Cluster& cluster, Time now, const ExplainJob& event, Effects& effects);

// ---- its parts

// The job and the world it waits in.
struct Question {
    Cluster& cluster;
    Time now;
    const Job& job;
};

// explain_rules.cc: all that keeps it and is no question of room. Which of its partitions let it
// in; what the others have against it is noted.
void explain_rules(const Question& question, Explanation& out);
std::vector<const Partition*> open_partitions(const Question& question, Explanation& out);

// shortage.cc: which resources are missing for `need` there, who has them, and which nodes are out
// of service. The spot's reservation is open, all bookings are lifted; `promised` are those that
// the job may not delay.
Explanation::Place explain_shortage(const Question& question, const Spot& spot, const Need& need,
                                    const std::vector<Planner::Number>& promised, const Explanation& so_far);

// what_if.cc: single changes of the request that would start it now, the smallest first. Bookings
// that it may not delay are laid, the others lifted.
std::vector<Explanation::Change> changes_that_help(const Question& question);
// Whether there is room for it as it is.
bool has_room_now(const Question& question);

// "gres/gpu:a40" of a wish.
std::string tres_name(const GresCount& wish);
Explanation::Holder holder_of(const Question& question, const Job& holder);

}  // namespace sluice
