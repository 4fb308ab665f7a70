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

}  // namespace

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
