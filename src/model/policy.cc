// See policy.h.
#include "model/policy.h"

namespace sluice {

namespace {

template <typename Value>
void fill(std::optional<Value>& own, const std::optional<Value>& above) {
    if (!own) own = above;
}

// Compat: -1 means no limit of its own, so each TRES is looked for further up.
void fill(Tres& own, const Tres& above) {
    own.insert(above.begin(), above.end());
}

void take_from(const Association& above, Association& own) {
    if (own.priority == 0) own.priority = above.priority;
    if (own.default_qos.empty()) own.default_qos = above.default_qos;
    fill(own.qos, above.qos);
    fill(own.max_per_job, above.max_per_job);
    fill(own.max_per_node, above.max_per_node);
    fill(own.max_minutes_per_job, above.max_minutes_per_job);
    fill(own.max_wall, above.max_wall);
    fill(own.min_priority, above.min_priority);
    fill(own.of_each.tres, above.of_each.tres);
    fill(own.of_each.run_minutes, above.of_each.run_minutes);
    fill(own.of_each.running, above.of_each.running);
    fill(own.of_each.submitted, above.of_each.submitted);
    fill(own.of_each.accruing, above.of_each.accruing);
}

}  // namespace

const Association* find_association(const Policy& policy, std::uint32_t id) {
    for (const Association& each : policy.associations) {
        if (each.id == id) return &each;
    }
    return nullptr;
}

Association inherited(const Policy& policy, const Association& own) {
    Association result = own;
    for (const Association* above = find_association(policy, own.parent); above;
         above = find_association(policy, above->parent)) {
        take_from(*above, result);
    }
    return result;
}

}  // namespace sluice
