// core/schedule/share.cc
//
// OverSubscribe: where no CPUs are free, a job may start on CPUs that others hold, as long as all
// of them share and no CPU gets more jobs than its partition allows. With GANG they take time
// slices, and the new job has the first. No booking is delayed.
#include <algorithm>

#include "core/place/place.h"
#include "core/place/use.h"
#include "core/schedule/gang.h"
#include "core/schedule/pass.h"

namespace sluice {

namespace {

constexpr int kShareSearches = 16;

// By CPU: until when the plan counts it as used by the jobs that hold it now.
std::vector<PlanTime> held_until(const Cluster& cluster, const Planner& planner, const Node& node,
                                 Time now) {
    std::vector<PlanTime> until(node.cpu_used.size(), planner.tick(now));
    for (JobId id : node.jobs) {
        const Job& job = cluster.job(id);
        if (job.run.cpus_lent && !job.run.awaits_cpus) continue;
        PlanTime end = planner.tick(expected_end(cluster, job, now));
        for (std::uint32_t cpu : job.run.allocation->find(node.index)->cpus)
            until[cpu] = std::max(until[cpu], end);
    }
    return until;
}

}  // namespace

// CPUs may be booked from when their current jobs end, above all those of preempted jobs. A job
// that shares these CPUs and runs longer would delay that booking.
bool Pass::breaks_no_booking(const Allocation& allocation, const Search& search) const {
    const Planner& planner = scheduler_.planner;
    PlanTime end = end_of(search.from, search.length);
    return std::all_of(
        allocation.nodes.begin(), allocation.nodes.end(), [&](const NodeShare& share) {
            std::vector<PlanTime> until = held_until(cluster_, planner, cluster_.node(share.node),
                                                     now_),
                                  from;
            for (std::uint32_t cpu : share.cpus) from.push_back(until[cpu]);
            std::sort(from.begin(), from.end());
            for (std::size_t i = 0; i < from.size() && from[i] < end; ++i) {
                Amounts free = planner.plan().window(share.node, from[i], end - from[i]).free;
                if (free[Amounts::kCpus] < static_cast<std::int32_t>(i + 1)) return false;
            }
            return true;
        });
}

bool Pass::start_shared(Entry& entry, JobId id) {
    const Need& need = entry.in->need;
    if (need.sharers <= 1 || share_searches_++ >= kShareSearches) return false;
    Planner& planner = scheduler_.planner;
    Search search = search_for(entry, cluster_.job(id));
    std::vector<NodeIndex> widened;
    for (NodeIndex index : search.nodes) {
        const Node& node = cluster_.node(index);
        if (planner.plan().is_closed(index) || !has_alternating(cluster_, node)) continue;
        PlanTime end = end_of(search.from, search.length);
        if (planner.kept(index, search.from, end) != Planner::Kept::No) continue;
        std::vector<std::uint8_t> holders = cpu_holders(cluster_, node, need.sharers);
        std::vector<PlanTime> until = held_until(cluster_, planner, node, now_);
        bool joinable = false;
        for (std::size_t cpu = 0; cpu < holders.size(); ++cpu) {
            if (holders[cpu] == 0 || holders[cpu] == kNobodyElse) continue;
            planner.add_cpus(index, 1, search.from, std::min(end, until[cpu]));
            joinable = true;
        }
        if (joinable) widened.push_back(index);
    }
    Choice choice = widened.empty() ? Choice{} : finder_.at_once(search);
    for (NodeIndex node : widened) planner.refresh(cluster_, node, now_);
    auto allocation = choice.empty() ? std::nullopt : allocate(cluster_, need, choice);
    return allocation && breaks_no_booking(*allocation, search) && start(entry, id, choice);
}

}  // namespace sluice
