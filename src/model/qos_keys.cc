#include "model/qos_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/limit_keys.h"
#include "model/times.h"
#include "model/validate.h"

namespace sluice {

namespace {

using SetQos = Result<void> (*)(QosChange& qos, const LimitWord& change);

Result<void> describe_qos(QosChange& qos, const LimitWord& change) {
    qos.description = change.value;
    return {};
}

Result<void> set_qos_priority(QosChange& qos, const LimitWord& change) {
    const std::optional<std::uint64_t> number = removes_limit(change) ? 0 : to_number(change.value);
    if (!number || *number > 0xfffffffd) return invalid_limit(change);
    qos.priority = static_cast<std::uint32_t>(*number);
    return {};
}

Result<void> set_qos_grace(QosChange& qos, const LimitWord& change) {
    const std::optional<std::uint64_t> seconds =
        removes_limit(change) ? 0 : to_number(change.value);
    if (!seconds || *seconds > 0xfffffffd) return invalid_limit(change);
    qos.grace_time = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

Result<void> set_qos_exempt_time(QosChange& qos, const LimitWord& change) {
    qos.exempt_time.emplace();
    if (removes_limit(change)) return {};
    Result<TimeLimit> length = parse_time_limit(change.value);
    if (!length || length->unlimited()) return invalid_limit(change);
    qos.exempt_time->value = length->length();
    return {};
}

Result<void> set_preempted(QosChange& qos, const LimitWord& change) {
    if (change.sign == 0) {
        qos.preempt_replaced = true;
        qos.preempt_added.clear();
        qos.preempt_removed.clear();
    }
    for (std::string_view each : split(change.value, ',')) {
        if (each.empty()) continue;  // Preempt= alone: none
        const std::string name = to_lower(each);
        std::erase(qos.preempt_added, name);
        std::erase(qos.preempt_removed, name);
        (change.sign == '-' ? qos.preempt_removed : qos.preempt_added).push_back(name);
    }
    return {};
}

// Compat: OFF and CLUSTER both mean that slurm.conf decides.
Result<void> set_qos_mode(QosChange& qos, const LimitWord& change) {
    for (std::string_view word : split(change.value, ',')) {
        bool is_known = word.empty();
        for (std::string_view each : {"CANCEL", "REQUEUE", "SUSPEND", "WITHIN", "OFF", "CLUSTER"})
            is_known = is_known || equals_ignoring_case(each, word);
        if (!is_known) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("Bad Preempt Mode given: {}={}: CLUSTER, CANCEL, REQUEUE, "
                                     "SUSPEND or WITHIN is needed",
                                     change.key, change.value)};
        }
    }
    qos.preempt_mode = parse_preempt_words(change.value);
    return {};
}

template <auto... Members>
Result<void> set_qos_tres(QosChange& qos, const LimitWord& change) {
    return change_tres_limit((qos.*....*Members), change);
}

Result<void> set_node_tres(QosChange& qos, const LimitWord& change) {
    TRY(change_tres_limit(qos.max_per_node, change));
    if (qos.max_per_node.contains("node")) return invalid_limit(change);
    return {};
}

template <auto... Members>
Result<void> set_qos_count(QosChange& qos, const LimitWord& change) {
    return change_count_limit((qos.*....*Members), change);
}

template <auto... Members>
Result<void> set_qos_wall(QosChange& qos, const LimitWord& change) {
    return change_wall_limit((qos.*....*Members), change);
}

template <auto Member>
Result<void> set_qos_factor(QosChange& qos, const LimitWord& change) {
    return change_factor_limit(qos.*Member, change);
}

// Without a value of its own a QOS has the factor 1.
Result<void> set_usage_factor(QosChange& qos, const LimitWord& change) {
    std::optional<LimitChange<std::uint32_t>> factor;
    TRY(change_factor_limit(factor, change));
    qos.usage_factor = factor->value.value_or(kUnitFactor);
    return {};
}

Result<void> set_qos_flags(QosChange& qos, const LimitWord& change) {
    if (change.sign == 0) {
        qos.flags_replaced = true;
        qos.flags_set = qos.flags_cleared = 0;
    }
    if (removes_limit(change)) return {};
    for (std::string_view name : split(change.value, ',')) {
        if (trim(name).empty()) continue;
        const std::optional<QosFlag> flag = find_qos_flag(trim(name));
        if (!flag) {
            return Error{
                ErrorCode::BadArgument,
                fmt::format("Unknown QOS flag used in:\n  '{}'\n Valid QOS flags are\n  '{}'",
                            trim(name), print_qos_flags(~0u))};
        }
        const std::uint32_t bit = *flag;
        qos.flags_set = change.sign == '-' ? qos.flags_set & ~bit : qos.flags_set | bit;
        qos.flags_cleared = change.sign == '-' ? qos.flags_cleared | bit : qos.flags_cleared & ~bit;
    }
    return {};
}

struct QosKey {
    std::string_view key;
    SetQos set = nullptr;
    std::string_view tres = {};  // the resource that the key is about
};

using Q = QosChange;
using A = AllotmentChange;

// clang-format off
constexpr QosKey kQosKeys[] = {
    {"Description", describe_qos},
    {"Flags", set_qos_flags},
    {"GraceTime", set_qos_grace},
    {"GrpCPUs", set_qos_tres<&Q::of_all, &A::tres>, "cpu"},
    {"GrpJobs", set_qos_count<&Q::of_all, &A::running>},
    {"GrpMem", set_qos_tres<&Q::of_all, &A::tres>, "mem"},
    {"GrpMemory", set_qos_tres<&Q::of_all, &A::tres>, "mem"},
    {"GrpNodes", set_qos_tres<&Q::of_all, &A::tres>, "node"},
    {"GrpSubmit", set_qos_count<&Q::of_all, &A::submitted>},
    {"GrpSubmitJobs", set_qos_count<&Q::of_all, &A::submitted>},
    {"GrpTRES", set_qos_tres<&Q::of_all, &A::tres>},
    {"MaxCPUs", set_qos_tres<&Q::max_per_job>, "cpu"},
    {"MaxCPUsPerJob", set_qos_tres<&Q::max_per_job>, "cpu"},
    {"MaxCPUsPerUser", set_qos_tres<&Q::of_user, &A::tres>, "cpu"},
    {"MaxJobs", set_qos_count<&Q::of_user, &A::running>},
    {"MaxJobsPU", set_qos_count<&Q::of_user, &A::running>},
    {"MaxJobsPerUser", set_qos_count<&Q::of_user, &A::running>},
    {"MaxJobsPA", set_qos_count<&Q::of_account, &A::running>},
    {"MaxJobsPerAccount", set_qos_count<&Q::of_account, &A::running>},
    {"MaxNodes", set_qos_tres<&Q::max_per_job>, "node"},
    {"MaxNodesPerJob", set_qos_tres<&Q::max_per_job>, "node"},
    {"MaxNodesPerUser", set_qos_tres<&Q::of_user, &A::tres>, "node"},
    {"MaxSubmitJobs", set_qos_count<&Q::of_user, &A::submitted>},
    {"MaxSubmitJobsPU", set_qos_count<&Q::of_user, &A::submitted>},
    {"MaxSubmitJobsPerUser", set_qos_count<&Q::of_user, &A::submitted>},
    {"MaxSubmitPU", set_qos_count<&Q::of_user, &A::submitted>},
    {"MaxSubmitJobsPA", set_qos_count<&Q::of_account, &A::submitted>},
    {"MaxSubmitJobsPerAccount", set_qos_count<&Q::of_account, &A::submitted>},
    {"MaxSubmitPA", set_qos_count<&Q::of_account, &A::submitted>},
    {"MaxTRES", set_qos_tres<&Q::max_per_job>},
    {"MaxTRESPJ", set_qos_tres<&Q::max_per_job>},
    {"MaxTRESPerJob", set_qos_tres<&Q::max_per_job>},
    {"MaxTRESPA", set_qos_tres<&Q::of_account, &A::tres>},
    {"MaxTRESPerAccount", set_qos_tres<&Q::of_account, &A::tres>},
    {"MaxTRESPN", set_node_tres},
    {"MaxTRESPerNode", set_node_tres},
    {"MaxTRESPU", set_qos_tres<&Q::of_user, &A::tres>},
    {"MaxTRESPerUser", set_qos_tres<&Q::of_user, &A::tres>},
    {"MaxWall", set_qos_wall<&Q::max_wall>},
    {"MaxWallDurationPerJob", set_qos_wall<&Q::max_wall>},
    {"MinTRES", set_qos_tres<&Q::min_per_job>},
    {"MinTRESPerJob", set_qos_tres<&Q::min_per_job>},
    {"Preempt", set_preempted},
    {"PreemptExemptTime", set_qos_exempt_time},
    {"PreemptMode", set_qos_mode},
    {"Priority", set_qos_priority},
    {"GrpCPUMins", set_qos_tres<&Q::of_all, &A::minutes>, "cpu"},
    {"GrpCPURunMins", set_qos_tres<&Q::of_all, &A::run_minutes>, "cpu"},
    {"GrpJobsAccrue", set_qos_count<&Q::of_all, &A::accruing>},
    {"GrpTRESMins", set_qos_tres<&Q::of_all, &A::minutes>},
    {"GrpTRESRunMins", set_qos_tres<&Q::of_all, &A::run_minutes>},
    {"GrpWall", set_qos_wall<&Q::of_all, &A::wall>},
    {"LimitFactor", set_qos_factor<&Q::limit_factor>},
    {"MaxCPUMins", set_qos_tres<&Q::max_minutes_per_job>, "cpu"},
    {"MaxCPUMinsPerJob", set_qos_tres<&Q::max_minutes_per_job>, "cpu"},
    {"MaxJobsAccruePA", set_qos_count<&Q::of_account, &A::accruing>},
    {"MaxJobsAccruePerAccount", set_qos_count<&Q::of_account, &A::accruing>},
    {"MaxJobsAccruePU", set_qos_count<&Q::of_user, &A::accruing>},
    {"MaxJobsAccruePerUser", set_qos_count<&Q::of_user, &A::accruing>},
    {"MaxTRESMins", set_qos_tres<&Q::max_minutes_per_job>},
    {"MaxTRESMinsPJ", set_qos_tres<&Q::max_minutes_per_job>},
    {"MaxTRESMinsPerJob", set_qos_tres<&Q::max_minutes_per_job>},
    {"MaxTRESRunMinsPA", set_qos_tres<&Q::of_account, &A::run_minutes>},
    {"MaxTRESRunMinsPerAccount", set_qos_tres<&Q::of_account, &A::run_minutes>},
    {"MaxTRESRunMinsPU", set_qos_tres<&Q::of_user, &A::run_minutes>},
    {"MaxTRESRunMinsPerUser", set_qos_tres<&Q::of_user, &A::run_minutes>},
    {"MinCPUs", set_qos_tres<&Q::min_per_job>, "cpu"},
    {"MinNodes", set_qos_tres<&Q::min_per_job>, "node"},
    {"MinPrioThreshold", set_qos_count<&Q::min_priority>},
    {"UsageFactor", set_usage_factor},
    {"UsageThreshold", set_qos_factor<&Q::usage_threshold>},
};
// clang-format on

// Compat: any unambiguous prefix of a key is accepted ("prio", "desc").
const QosKey* find_qos_key(std::string_view given) {
    for (const QosKey& row : kQosKeys) {
        if (equals_ignoring_case(row.key, given)) return &row;
    }
    const QosKey* found = nullptr;
    for (const QosKey& row : kQosKeys) {
        if (given.empty() || !starts_with_ignoring_case(row.key, given)) continue;
        const bool is_another = found && (found->set != row.set || found->tres != row.tres);
        if (is_another) return nullptr;
        found = &row;
    }
    return found;
}

Result<void> set_qos_field(QosChange& change, std::string_view word, const std::string& value) {
    const char last = word.empty() ? ' ' : word.back();
    const char sign = last == '+' || last == '-' ? last : '\0';
    const QosKey* row = find_qos_key(word.substr(0, word.size() - (sign ? 1 : 0)));
    if (!row || (sign && row->set != set_preempted && row->set != set_qos_flags)) {
        return Error{ErrorCode::NotFound, fmt::format("{}={}", word, value)};
    }
    return row->set(change, {row->key, sign, value, row->tres});
}

}  // namespace

Result<QosChange> parse_qos_change(const KeyTexts& given) {
    QosChange change;
    for (const auto& [key, value] : given) TRY(set_qos_field(change, key, value));
    TRY(validate(change));
    return change;
}

}  // namespace sluice
