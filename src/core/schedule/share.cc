// core/schedule/share.cc
//
// OverSubscribe: where no CPUs are free, a job may start on CPUs that others hold, as long as all of
// them share and no CPU gets more of them than its partition says. With GANG they take turns, and the
// newcomer has the first.
#include "core/node/use.h"
#include "core/schedule/gang.h"
#include "core/schedule/pass.h"

namespace sluice {

constexpr int kShareSearches = 16;

bool Pass::start_shared(const Entry& entry, JobId id) {
    const Need& need = entry.in->need;
    if (need.sharers <= 1 || share_searches_++ >= kShareSearches) return false;
    Planner& planner = scheduler_.planner;
    Search search = search_for(entry, cluster_.job(id));
    std::vector<NodeIndex> widened;
    for (NodeIndex node : search.nodes) {
        if (planner.plan().is_closed(node) || !has_alternating(cluster_, cluster_.node(node))) continue;
        std::uint32_t joinable = 0;
        for (std::uint8_t holders : cpu_holders(cluster_, cluster_.node(node), need.sharers)) {
            joinable += holders > 0 && holders < kNobodyElse ? 1 : 0;
        }
        bool kept = planner.kept(node, search.from, end_of(search.from, search.length)) != Planner::Kept::No;
        if (joinable == 0 || kept) continue;
        planner.add_cpus(node, joinable, search.from, end_of(search.from, search.length));
        widened.push_back(node);
    }
    Choice choice = widened.empty() ? Choice{} : finder_.at_once(search);
    for (NodeIndex node : widened) planner.refresh(cluster_, node, now_);
    return !choice.empty() && start(entry, id, choice);
}

}  // namespace sluice
