#include "core/query/reason.h"

#include <algorithm>

#include "base/text.h"
#include "core/schedule/queue.h"

namespace sluice {

namespace {

// Jobs of a reservation wait in a queue of their own.
Reason reason_in_reservation(const Job& job, const PlanView& plan) {
    bool evaluated = false;
    for (std::string_view name : split(job.request->reservation, ',')) {
        auto first = plan.first_in_reservation.find(std::string(name));
        if (first == plan.first_in_reservation.end()) continue;
        if (first->second == job.id) return Reason::Resources;
        evaluated = true;
    }
    return evaluated ? Reason::Priority : Reason::None;
}

// Whether it has no reason of its own and is in the queue.
bool waits_its_turn(const Job& job) {
    return job.state == JobState::Pending && job.reason == Reason::None && job.priority > 0;
}

}  // namespace

std::string_view shown_detail(const Job& job, const PlanView* plan) {
    const ClassObstacle* obstacle =
        plan && waits_its_turn(job) ? plan->find_obstacle(job) : nullptr;
    if (!obstacle) return job.reason_detail;
    return obstacle->head == job.id ? std::string_view{} : obstacle->detail;
}

Reason shown_reason(const Job& job, const std::vector<Partition>& partitions,
                    const PlanView* plan) {
    if (!plan || !waits_its_turn(job)) return job.reason;
    if (const ClassObstacle* obstacle = plan->find_obstacle(job)) {
        return obstacle->head == job.id ? Reason::NodesUnavailable : obstacle->reason;
    }
    bool evaluated = false;
    if (!job.request->reservation.empty()) return reason_in_reservation(job, *plan);
    std::vector<std::string> names = partitions_of(job);
    for (std::size_t i = 0; i < plan->first_blocked.size() && i < partitions.size(); ++i) {
        const auto& blocked = plan->first_blocked[i];
        if (!blocked ||
            std::find(names.begin(), names.end(), partitions[i].config.name) == names.end())
            continue;
        if (*blocked == job.id && !plan->behind_tier[i]) return Reason::Resources;
        evaluated = true;
    }
    return evaluated ? Reason::Priority : Reason::None;
}

}  // namespace sluice
