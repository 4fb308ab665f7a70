#include "core/query/reason.h"

#include <algorithm>

#include "core/schedule/queue.h"

namespace sluice {

Reason shown_reason(const Job& job, const std::vector<Partition>& partitions, const PlanView* plan) {
    if (job.state != JobState::Pending || job.reason != Reason::None || job.priority == 0 || !plan) return job.reason;
    bool evaluated = false;
    std::vector<std::string> names = partitions_of(job);
    for (std::size_t i = 0; i < plan->first_blocked.size() && i < partitions.size(); ++i) {
        const auto& blocked = plan->first_blocked[i];
        if (!blocked || std::find(names.begin(), names.end(), partitions[i].config.name) == names.end()) continue;
        if (*blocked == job.id) return Reason::Resources;
        evaluated = true;
    }
    return evaluated ? Reason::Priority : Reason::None;
}

}  // namespace sluice
