// core/schedule/explain.h
//
// Why does it wait? Every obstacle of a pending job, found by asking the same questions as a pass
// does, of a copy of the plan. Bookings are lifted from the copy to see what would be without them.
// The cluster is not changed: any thread may ask a copy of it (Cluster::copy_for_questions).
#pragma once

#include "core/query/viewer.h"
#include "core/schedule/pass.h"
#include "core/schedule/spot.h"
#include "model/explanation.h"

namespace sluice {

// As far as the viewer may see the other jobs, the nodes and the reservations in it. The cluster's
// layout is up to date.
Explanation explain(const Cluster& cluster, Time now, JobId id, const Viewer& viewer);
Answer explain_jobs(const Cluster& cluster, Time now, const ExplainJob& question);

// ---- its parts

constexpr std::size_t kNamedMost = 5;  // of jobs that are listed by name

// The job and the world it waits in.
struct Question {
    const Cluster& cluster;
    Planner& planner;  // a copy of the cluster's
    Time now;
    const Job& job;
    std::uint32_t tier;  // the highest of its partitions
    const Viewer& viewer;
};

// explain_rules.cc: all that keeps it and is no question of room. Which of its partitions let it
// in; what the others have against it is noted.
void explain_rules(const Question& question, Explanation& out);
std::vector<const Partition*> open_partitions(const Question& question, Explanation& out);

// shortage.cc: which resources are missing for `need` there, who has them or is promised them, and
// which nodes are out of service. The spot's reservation is open.
Explanation::Place explain_shortage(const Question& question, const Spot& spot, const Need& need,
                                    const Explanation& so_far);

// what_if.cc: whether there is room for it as it is; if not, and nothing else keeps it, single
// changes of the request that would start it now, the smallest first.
void explain_changes(const Question& question, Explanation& out);

// Bookings that are as if they were not there, until the end of the scope.
class Lifted {
public:
    Lifted(Planner& planner, std::vector<Planner::Number> numbers)
        : planner_(planner), numbers_(std::move(numbers)) {
        for (Planner::Number number : numbers_) planner_.lift(number);
    }
    ~Lifted() {
        for (Planner::Number number : numbers_) planner_.lay(number);
    }
    Lifted(const Lifted&) = delete;
    Lifted& operator=(const Lifted&) = delete;

private:
    Planner& planner_;
    std::vector<Planner::Number> numbers_;
};

// Whoever is booked there gives way: it is the job itself, or behind it.
bool gives_way(const Question& question, const Booking& booking);

// "gres/gpu:a40" of a wish.
std::string tres_name(const GresCount& wish);
Explanation::Holder holder_of(const Question& question, const Job& holder);

}  // namespace sluice
