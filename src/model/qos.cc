// See qos.h.
#include "model/qos.h"

#include "base/text.h"

namespace sluice {

namespace {

struct FlagRow {
    QosFlag flag;
    std::string_view name;
};

// In the order in which sacctmgr shows them.
constexpr FlagRow kQosFlags[] = {
    {kQosDenyOnLimit, "DenyOnLimit"},
    {kQosPartitionMaxNodes, "PartitionMaxNodes"},
    {kQosPartitionMinNodes, "PartitionMinNodes"},
    {kQosOverPartQos, "OverPartQOS"},
    {kQosPartitionTimeLimit, "PartitionTimeLimit"},
    {kQosRequiresReservation, "RequiresReservation"},
};

void apply(const TresChange& change, Tres& tres) {
    for (const auto& [name, count] : change) {
        if (count)
            tres[name] = *count;
        else
            tres.erase(name);
    }
}

void apply(const AllotmentChange& change, Allotment& allotment) {
    apply(change.tres, allotment.tres);
    if (change.running) allotment.running = change.running->value;
    if (change.submitted) allotment.submitted = change.submitted->value;
}

}  // namespace

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
    apply(max_per_job, qos.max_per_job);
    apply(max_per_node, qos.max_per_node);
    apply(min_per_job, qos.min_per_job);
    if (max_wall) qos.max_wall = max_wall->value;
    apply(of_all, qos.of_all);
    apply(of_user, qos.of_user);
    apply(of_account, qos.of_account);
}

std::string print_qos_flags(std::uint32_t flags) {
    std::vector<std::string> names;
    for (const FlagRow& row : kQosFlags) {
        if (flags & row.flag) names.emplace_back(row.name);
    }
    return join(names, ",");
}

std::optional<QosFlag> find_qos_flag(std::string_view name) {
    for (const FlagRow& row : kQosFlags) {
        if (equals_ignoring_case(row.name, name)) return row.flag;
    }
    return {};
}

}  // namespace sluice
