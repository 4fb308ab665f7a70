// See qos.h.
#include "model/qos.h"

#include "base/text.h"

namespace sluice {

namespace {

struct QosFlagRow {
    QosFlag flag;
    std::string_view name;
};

// In the order in which sacctmgr shows them.
constexpr QosFlagRow kQosFlags[] = {
    {kQosDenyOnLimit, "DenyOnLimit"},
    {kQosEnforceUsageThreshold, "EnforceUsageThreshold"},
    {kQosPartitionMinNodes, "PartitionMinNodes"},
    {kQosPartitionMaxNodes, "PartitionMaxNodes"},
    {kQosPartitionTimeLimit, "PartitionTimeLimit"},
    {kQosRequiresReservation, "RequiresReservation"},
    {kQosOverPartQos, "OverPartQOS"},
    {kQosNoReserve, "NoReserve"},
    {kQosNoDecay, "NoDecay"},
    {kQosRelative, "Relative"},
    {kQosUsageFactorSafe, "UsageFactorSafe"},
};

}  // namespace

void apply_tres_change(const TresChange& change, Tres& tres) {
    for (const auto& [name, count] : change) {
        if (count)
            tres[name] = *count;
        else
            tres.erase(name);
    }
}

void AllotmentChange::apply_to(Allotment& allotment) const {
    apply_tres_change(tres, allotment.tres);
    apply_tres_change(minutes, allotment.minutes);
    apply_tres_change(run_minutes, allotment.run_minutes);
    if (running) allotment.running = running->value;
    if (submitted) allotment.submitted = submitted->value;
    if (accruing) allotment.accruing = accruing->value;
    if (wall) allotment.wall = wall->value;
}

void QosChange::apply_to(Qos& qos) const {
    if (description) qos.description = *description;
    if (priority) qos.priority = *priority;
    if (preempt_replaced) qos.preempt.clear();
    for (const std::string& name : preempt_removed) std::erase(qos.preempt, name);
    for (const std::string& name : preempt_added) {
        std::erase(qos.preempt, name);
        qos.preempt.push_back(name);
    }
    if (preempt_mode) {
        qos.preempt_mode = *preempt_mode == PreemptWords{} ? "" : print(*preempt_mode);
    }
    if (grace_time) qos.grace_time = *grace_time;
    if (exempt_time) qos.exempt_time = exempt_time->value;
    if (flags_replaced) qos.flags = 0;
    qos.flags = (qos.flags & ~flags_cleared) | flags_set;
    apply_tres_change(max_per_job, qos.max_per_job);
    apply_tres_change(max_per_node, qos.max_per_node);
    apply_tres_change(min_per_job, qos.min_per_job);
    apply_tres_change(max_minutes_per_job, qos.max_minutes_per_job);
    if (max_wall) qos.max_wall = max_wall->value;
    if (min_priority) qos.min_priority = min_priority->value;
    if (usage_factor) qos.usage_factor = *usage_factor;
    if (usage_threshold) qos.usage_threshold = usage_threshold->value;
    if (limit_factor) qos.limit_factor = limit_factor->value;
    of_all.apply_to(qos.of_all);
    of_user.apply_to(qos.of_user);
    of_account.apply_to(qos.of_account);
}

std::string print_qos_flags(std::uint32_t flags) {
    std::vector<std::string> names;
    for (const QosFlagRow& row : kQosFlags) {
        if (flags & row.flag) names.emplace_back(row.name);
    }
    return join(names, ",");
}

std::optional<QosFlag> find_qos_flag(std::string_view name) {
    for (const QosFlagRow& row : kQosFlags) {
        if (equals_ignoring_case(row.name, name)) return row.flag;
    }
    return {};
}

}  // namespace sluice
