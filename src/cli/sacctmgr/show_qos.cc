// cli/sacctmgr/show_qos.cc
//
// sacctmgr show qos. See show.h.
#include <algorithm>

#include "cli/sacctmgr/show.h"
#include "cli/sacctmgr/table.h"
#include "model/times.h"

namespace sluice {

namespace {

using Q = Qos;
using M = Allotment;

template <auto... Members>
std::string tres(const Q& qos) {
    return print_tres((qos.*....*Members));
}
template <auto... Members>
std::string count(const Q& qos) {
    return count_text((qos.*....*Members));
}
template <auto... Members>
std::string wall(const Q& qos) {
    return wall_text((qos.*....*Members));
}
template <auto Member>
std::string factor(const Q& qos) {
    const std::optional<std::uint32_t>& value = qos.*Member;
    return value ? fmt::format("{:.6f}", *value / double{kUnitFactor}) : "";
}
template <const char* Name, auto... Members>
std::string one(const Q& qos) {
    return one_of((qos.*....*Members), Name);
}

std::string name(const Q& qos) {
    return qos.name;
}
std::string usage_factor(const Q& qos) {
    return fmt::format("{:.6f}", qos.usage_factor / double{kUnitFactor});
}

// clang-format off
constexpr ListField<Q> kQosFields[] = {
    {"Name",              "Name",              10, name},
    {"Description",       "Descr",             20, [](const Q& qos) { return qos.description; }},
    {"Flags",             "Flags",             20, [](const Q& qos) { return print_qos_flags(qos.flags); }},
    {"GraceTime",         "GraceTime",         10, [](const Q& qos) { return print_duration(qos.grace_time); }},
    {"GrpCPUs",           "GrpCPUs",            8, one<kCpu, &Q::of_all, &M::tres>},
    {"GrpCPUMins",        "GrpCPUMins",        11, one<kCpu, &Q::of_all, &M::minutes>},
    {"GrpCPURunMins",     "GrpCPURunMins",     13, one<kCpu, &Q::of_all, &M::run_minutes>},
    {"GrpJobs",           "GrpJobs",            7, count<&Q::of_all, &M::running>},
    {"GrpJobsAccrue",     "GrpJobsAccrue",     13, count<&Q::of_all, &M::accruing>},
    {"GrpMemory",         "GrpMem",             7, one<kMem, &Q::of_all, &M::tres>},
    {"GrpNodes",          "GrpNodes",           8, one<kNode, &Q::of_all, &M::tres>},
    {"GrpSubmitJobs",     "GrpSubmit",          9, count<&Q::of_all, &M::submitted>},
    {"GrpTRES",           "GrpTRES",           13, tres<&Q::of_all, &M::tres>},
    {"GrpTRESMins",       "GrpTRESMins",       13, tres<&Q::of_all, &M::minutes>},
    {"GrpTRESRunMins",    "GrpTRESRunMins",    13, tres<&Q::of_all, &M::run_minutes>},
    {"GrpWall",           "GrpWall",           11, wall<&Q::of_all, &M::wall>},
    {"ID",                "ID",                 6, [](const Q& qos) { return std::to_string(qos.id); }},
    {"LimitFactor",       "LimitFactor",       11, factor<&Q::limit_factor>},
    {"MaxCPUs",           "MaxCPUs",            8, one<kCpu, &Q::max_per_job>},
    {"MaxCPUMinsPerJob",  "MaxCPUMins",        11, one<kCpu, &Q::max_minutes_per_job>},
    {"MaxCPUsPerUser",    "MaxCPUsPU",          9, one<kCpu, &Q::of_user, &M::tres>},
    {"MaxCPUsPU",         "MaxCPUsPU",          9, one<kCpu, &Q::of_user, &M::tres>},
    {"MaxJobsPerUser",    "MaxJobsPU",          9, count<&Q::of_user, &M::running>},
    {"MaxJobsPU",         "MaxJobsPU",          9, count<&Q::of_user, &M::running>},
    {"MaxJobsPerAccount", "MaxJobsPA",          9, count<&Q::of_account, &M::running>},
    {"MaxJobsPA",         "MaxJobsPA",          9, count<&Q::of_account, &M::running>},
    {"MaxJobsAccruePerUser", "MaxJobsAccruePU", 15, count<&Q::of_user, &M::accruing>},
    {"MaxJobsAccruePU",   "MaxJobsAccruePU",   15, count<&Q::of_user, &M::accruing>},
    {"MaxJobsAccruePerAccount", "MaxJobsAccruePA", 15, count<&Q::of_account, &M::accruing>},
    {"MaxJobsAccruePA",   "MaxJobsAccruePA",   15, count<&Q::of_account, &M::accruing>},
    {"MaxNodes",          "MaxNodes",           8, one<kNode, &Q::max_per_job>},
    {"MaxNodesPerUser",   "MaxNodesPU",        10, one<kNode, &Q::of_user, &M::tres>},
    {"MaxSubmitPU",       "MaxSubmitPU",       11, count<&Q::of_user, &M::submitted>},
    {"MaxSubmitJobsPerUser", "MaxSubmitPU",    11, count<&Q::of_user, &M::submitted>},
    {"MaxSubmitJobsPU",   "MaxSubmitPU",       11, count<&Q::of_user, &M::submitted>},
    {"MaxSubmitPA",       "MaxSubmitPA",       11, count<&Q::of_account, &M::submitted>},
    {"MaxSubmitJobsPerAccount", "MaxSubmitPA", 11, count<&Q::of_account, &M::submitted>},
    {"MaxSubmitJobsPA",   "MaxSubmitPA",       11, count<&Q::of_account, &M::submitted>},
    {"MaxTRES",           "MaxTRES",           13, tres<&Q::max_per_job>},
    {"MaxTRESPerJob",     "MaxTRES",           13, tres<&Q::max_per_job>},
    {"MaxTRESMins",       "MaxTRESMins",       13, tres<&Q::max_minutes_per_job>},
    {"MaxTRESMinsPerJob", "MaxTRESMins",       13, tres<&Q::max_minutes_per_job>},
    {"MaxTRESPerAccount", "MaxTRESPA",         13, tres<&Q::of_account, &M::tres>},
    {"MaxTRESPA",         "MaxTRESPA",         13, tres<&Q::of_account, &M::tres>},
    {"MaxTRESPerNode",    "MaxTRESPerNode",    14, tres<&Q::max_per_node>},
    {"MaxTRESPerUser",    "MaxTRESPU",         13, tres<&Q::of_user, &M::tres>},
    {"MaxTRESPU",         "MaxTRESPU",         13, tres<&Q::of_user, &M::tres>},
    {"MaxTRESRunMinsPA",  "MaxTRESRunMinsPA",  15, tres<&Q::of_account, &M::run_minutes>},
    {"MaxTRESRunMinsPerAccount", "MaxTRESRunMinsPA", 15, tres<&Q::of_account, &M::run_minutes>},
    {"MaxTRESRunMinsPU",  "MaxTRESRunMinsPU",  15, tres<&Q::of_user, &M::run_minutes>},
    {"MaxTRESRunMinsPerUser", "MaxTRESRunMinsPU", 15, tres<&Q::of_user, &M::run_minutes>},
    {"MaxWall",           "MaxWall",           11, wall<&Q::max_wall>},
    {"MaxWallDurationPerJob", "MaxWall",       11, wall<&Q::max_wall>},
    {"MinCPUs",           "MinCPUs",            8, one<kCpu, &Q::min_per_job>},
    {"MinNodes",          "MinNodes",           8, one<kNode, &Q::min_per_job>},
    {"MinPrioThreshold",  "MinPrioThres",      12, count<&Q::min_priority>},
    {"MinTRES",           "MinTRES",           13, tres<&Q::min_per_job>},
    {"MinTRESPerJob",     "MinTRES",           13, tres<&Q::min_per_job>},
    {"Preempt",           "Preempt",           10, [](const Q& qos) { return join(qos.preempt, ","); }},
    {"PreemptExemptTime", "PreemptExemptTime", 19, wall<&Q::exempt_time>},
    {"PreemptMode",       "PreemptMode",       11, [](const Q& qos) { return qos.preempt_mode.empty() ? "cluster" : to_lower(qos.preempt_mode); }},
    {"Priority",          "Priority",          10, [](const Q& qos) { return std::to_string(qos.priority); }},
    {"UsageFactor",       "UsageFactor",       11, usage_factor},
    {"UsageThreshold",    "UsageThres",        10, factor<&Q::usage_threshold>},
};
// clang-format on

constexpr std::string_view kQosFormat =
    "Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags%40,UsageThres,UsageFactor,"
    "GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmit,GrpWall,MaxTRES,MaxTRESPerNode,"
    "MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MaxTRESRunMinsPA,"
    "MaxTRESRunMinsPU,MaxJobsPA,MaxSubmitPA,MinTRES";

}  // namespace

std::string_view qos_key_name(std::string_view key) {
    while (key.ends_with('+') || key.ends_with('-')) key.remove_suffix(1);
    const ListField<Qos>* field = find_list_field<Qos>(kQosFields, key);
    return field ? field->name : std::string_view();
}

int show_qos(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    const std::vector<std::string>& names = words.step.names;
    std::vector<Qos> rows;
    for (const Qos& each : policy.qos) {
        const bool is_meant =
            (!each.deleted || words.has("withdeleted")) &&
            (names.empty() || std::find(names.begin(), names.end(), each.name) != names.end()) &&
            words.selects("ids", std::to_string(each.id));
        if (is_meant) rows.push_back(each);
    }
    return print_list<Qos>(command, kQosFields, words.format.empty() ? kQosFormat : words.format,
                           rows);
}

}  // namespace sluice
