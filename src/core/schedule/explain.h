// core/schedule/explain.h
//
// Explains why a job is pending: lists every obstacle, with the same checks as a pass, on a copy of
// the plan. Bookings are hidden in the copy to see what would be possible without them. The cluster
// is not changed: any thread may work on a copy of it (Cluster::copy_for_questions).
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

// explain_rules.cc: every obstacle that is not a lack of resources. open_partitions() returns the
// partitions that accept the job and notes why the others do not.
void explain_rules(const Question& question, Explanation& out);
std::vector<const Partition*> open_partitions(const Question& question, Explanation& out);

// shortage.cc: which resources are missing for `need` there, which jobs hold or have booked them,
// and which nodes are out of service. The spot's reservation is open.
Explanation::Place explain_shortage(const Question& question, const Spot& spot, const Need& need,
                                    const Explanation& so_far);

// what_if.cc: whether there is room for the job as it is; if not, and nothing else blocks it,
// single changes of the request that would start it now, the smallest first.
void explain_changes(const Question& question, Explanation& out);

// Hides bookings in the plan until the end of the scope.
class HiddenBookings {
public:
    HiddenBookings(Planner& planner, std::vector<Planner::Number> numbers)
        : planner_(planner), numbers_(std::move(numbers)) {
        for (Planner::Number number : numbers_) planner_.hide(number);
    }
    ~HiddenBookings() {
        for (Planner::Number number : numbers_) planner_.show(number);
    }
    HiddenBookings(const HiddenBookings&) = delete;
    HiddenBookings& operator=(const HiddenBookings&) = delete;

private:
    Planner& planner_;
    std::vector<Planner::Number> numbers_;
};

// Whether the booking is the job's own or that of a job behind it.
bool gives_way(const Question& question, const Booking& booking);

// "gres/gpu:a40" for a requested resource.
std::string tres_name(const GresCount& demand);
Explanation::Holder holder_of(const Question& question, const Job& holder);

}  // namespace sluice
