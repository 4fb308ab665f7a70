// See qos_fields.h.
#include "core/limits/qos_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/limits/qos.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

Error invalid_qos_value(std::string_view key, const std::string& value) {
    return {ErrorCode::BadArgument, fmt::format("Invalid value for {} ({})", key, value)};
}

// One word of a change: "Preempt+=a,b" has the sign '+'.
struct QosWord {
    std::string_view key;
    char sign = 0;
    const std::string& value;
    const Cluster& cluster;
    std::string_view tres = {};  // of which resource the value is a count
};
using SetQos = Result<void> (*)(Qos& qos, const QosWord& change);

bool is_unset_qos(const std::string& value) {
    return value == "-1";
}

Result<void> describe_qos(Qos& qos, const QosWord& change) {
    qos.description = change.value;
    return {};
}

Result<void> set_qos_priority(Qos& qos, const QosWord& change) {
    const std::optional<std::uint64_t> number =
        is_unset_qos(change.value) ? 0 : to_number(change.value);
    if (!number || *number > 0xfffffffd) return invalid_qos_value(change.key, change.value);
    qos.priority = static_cast<std::uint32_t>(*number);
    return {};
}

Result<void> set_qos_grace(Qos& qos, const QosWord& change) {
    const std::optional<std::uint64_t> seconds =
        is_unset_qos(change.value) ? 0 : to_number(change.value);
    if (!seconds || *seconds > 0xfffffffd) return invalid_qos_value(change.key, change.value);
    qos.grace_time = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

Result<void> set_qos_exempt_time(Qos& qos, const QosWord& change) {
    qos.exempt_time.reset();
    if (is_unset_qos(change.value)) return {};
    Result<TimeLimit> length = parse_time_limit(change.value);
    if (!length || length->unlimited()) return invalid_qos_value(change.key, change.value);
    qos.exempt_time = length->length();
    return {};
}

Result<void> set_preempted(Qos& qos, const QosWord& change) {
    if (change.sign == 0) qos.preempt.clear();
    for (std::string_view name : split(change.value, ',')) {
        if (name.empty()) continue;  // Preempt= alone: none
        const Qos* known = find_qos(change.cluster, to_lower(name));
        if (!known) {
            std::vector<std::string> names;
            for (const Qos& each : change.cluster.qos()) names.push_back(each.name);
            return Error{
                ErrorCode::BadArgument,
                fmt::format("You gave a bad qos '{}'. Valid QOS's are {}", name, join(names, ","))};
        }
        std::erase(qos.preempt, known->name);
        if (change.sign != '-') qos.preempt.push_back(known->name);
    }
    return {};
}

// Compat: OFF and CLUSTER both mean that slurm.conf decides.
Result<void> set_qos_mode(Qos& qos, const QosWord& change) {
    std::vector<std::string> words;
    for (std::string_view word : split(change.value, ',')) {
        const std::string mode = to_upper(word);
        const bool is_known =
            mode == "CANCEL" || mode == "REQUEUE" || mode == "SUSPEND" || mode == "WITHIN";
        if (is_known)
            words.push_back(mode);
        else if (!mode.empty() && mode != "OFF" && mode != "CLUSTER") {
            return Error{ErrorCode::BadArgument,
                         fmt::format("Bad Preempt Mode given: {}={}: CLUSTER, CANCEL, REQUEUE, "
                                     "SUSPEND or WITHIN is needed",
                                     change.key, change.value)};
        }
    }
    if (has_preempt_word(join(words, ","), "SUSPEND") && !change.cluster.settings().preempt.gang) {
        return Error{ErrorCode::BadArgument,
                     "PreemptMode=SUSPEND needs PreemptMode=...,GANG in slurm.conf"};
    }
    std::sort(words.rbegin(), words.rend());  // Compat: WITHIN comes first
    qos.preempt_mode = join(words, ",");
    return {};
}

bool is_known_tres(const Cluster& cluster, std::string_view name) {
    if (name == "cpu" || name == "mem" || name == "node" || name == "billing") return true;
    if (!name.starts_with("gres/")) return false;
    name.remove_prefix(5);
    const std::string_view device = name.substr(0, name.find(':'));
    const std::vector<std::string>& types = cluster.settings().gres_types;
    if (std::find(types.begin(), types.end(), device) != types.end()) return true;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        for (const GresPool& pool : cluster.node(NodeIndex{i}).gres) {
            if (pool.name == device) return true;
        }
    }
    return false;
}

// "cpu=8,mem=20G,gres/gpu=2" adds to the existing limits, -1 removes one.
Result<void> change_tres(Tres& tres, const QosWord& change) {
    const std::string text =
        change.tres.empty() ? change.value : fmt::format("{}={}", change.tres, change.value);
    for (std::string_view entry : split(text, ',')) {
        const std::size_t equals = std::min(entry.find('='), entry.size());
        const std::string name = to_lower(trim(entry.substr(0, equals)));
        if (!is_known_tres(change.cluster, name)) {
            return Error{ErrorCode::BadArgument, fmt::format("{}={}: no TRES known by type {}",
                                                             change.key, change.value, name)};
        }
        const std::string_view count = trim(entry.substr(std::min(equals + 1, entry.size())));
        if (count == "-1") {
            tres.erase(name);
            continue;
        }
        Result<Tres> parsed = parse_tres(fmt::format("{}={}", name, count));
        if (!parsed || parsed->size() != 1) return invalid_qos_value(change.key, change.value);
        tres[name] = parsed->begin()->second;
    }
    return {};
}

template <auto... Members>
Result<void> set_qos_tres(Qos& qos, const QosWord& change) {
    return change_tres((qos.*....*Members), change);
}

Result<void> set_node_tres(Qos& qos, const QosWord& change) {
    TRY(change_tres(qos.max_per_node, change));
    if (qos.max_per_node.contains("node")) return invalid_qos_value(change.key, change.value);
    return {};
}

template <auto... Members>
Result<void> set_qos_count(Qos& qos, const QosWord& change) {
    std::optional<std::uint32_t>& held = (qos.*....*Members);
    held.reset();
    if (is_unset_qos(change.value)) return {};
    const std::optional<std::uint64_t> number = to_number(change.value);
    if (!number || *number > 0xfffffffd) return invalid_qos_value(change.key, change.value);
    held = static_cast<std::uint32_t>(*number);
    return {};
}

// Compat: in whole minutes.
Result<void> set_qos_wall(Qos& qos, const QosWord& change) {
    qos.max_wall.reset();
    if (is_unset_qos(change.value)) return {};
    Result<TimeLimit> length = parse_time_limit(change.value);
    if (!length || length->unlimited()) {
        return Error{ErrorCode::BadArgument, fmt::format("Bad {} time format: {}={}", change.key,
                                                         change.key, change.value)};
    }
    qos.max_wall = Seconds{(length->length().count() + 59) / 60 * 60};
    return {};
}

constexpr std::string_view kIdleQosFlags[] = {"EnforceUsageThreshold", "NoDecay", "NoReserve",
                                              "Relative", "UsageFactorSafe"};

Result<void> set_qos_flags(Qos& qos, const QosWord& change) {
    if (change.sign == 0) qos.flags = 0;
    if (is_unset_qos(change.value)) return {};
    for (std::string_view name : split(change.value, ',')) {
        if (trim(name).empty()) continue;
        const std::optional<QosFlag> flag = find_qos_flag(trim(name));
        if (!flag) {
            for (std::string_view idle : kIdleQosFlags) {
                if (equals_ignoring_case(idle, trim(name))) {
                    return Error{ErrorCode::NotSupported,
                                 fmt::format("{}={} of a QOS", change.key, idle)};
                }
            }
            return Error{ErrorCode::BadArgument,
                         fmt::format("Unknown QOS flag used in: '{}'. Valid QOS flags are '{}'",
                                     name, print_qos_flags(~0u))};
        }
        if (change.sign == '-')
            qos.flags &= ~std::uint32_t{*flag};
        else
            qos.flags |= *flag;
    }
    return {};
}

struct QosKey {
    std::string_view key;
    SetQos set = nullptr;        // nullptr: a key of Slurm that is not supported
    std::string_view tres = {};  // the resource that the key is about
};

using A = Allotment;

// clang-format off
constexpr QosKey kQosKeys[] = {
    {"Description", describe_qos},
    {"Flags", set_qos_flags},
    {"GraceTime", set_qos_grace},
    {"GrpCPUs", set_qos_tres<&Qos::of_all, &A::tres>, "cpu"},
    {"GrpJobs", set_qos_count<&Qos::of_all, &A::running>},
    {"GrpMem", set_qos_tres<&Qos::of_all, &A::tres>, "mem"},
    {"GrpMemory", set_qos_tres<&Qos::of_all, &A::tres>, "mem"},
    {"GrpNodes", set_qos_tres<&Qos::of_all, &A::tres>, "node"},
    {"GrpSubmit", set_qos_count<&Qos::of_all, &A::submitted>},
    {"GrpSubmitJobs", set_qos_count<&Qos::of_all, &A::submitted>},
    {"GrpTRES", set_qos_tres<&Qos::of_all, &A::tres>},
    {"MaxCPUs", set_qos_tres<&Qos::max_per_job>, "cpu"},
    {"MaxCPUsPerJob", set_qos_tres<&Qos::max_per_job>, "cpu"},
    {"MaxCPUsPerUser", set_qos_tres<&Qos::of_user, &A::tres>, "cpu"},
    {"MaxJobs", set_qos_count<&Qos::of_user, &A::running>},
    {"MaxJobsPU", set_qos_count<&Qos::of_user, &A::running>},
    {"MaxJobsPerUser", set_qos_count<&Qos::of_user, &A::running>},
    {"MaxJobsPA", set_qos_count<&Qos::of_account, &A::running>},
    {"MaxJobsPerAccount", set_qos_count<&Qos::of_account, &A::running>},
    {"MaxNodes", set_qos_tres<&Qos::max_per_job>, "node"},
    {"MaxNodesPerJob", set_qos_tres<&Qos::max_per_job>, "node"},
    {"MaxNodesPerUser", set_qos_tres<&Qos::of_user, &A::tres>, "node"},
    {"MaxSubmitJobs", set_qos_count<&Qos::of_user, &A::submitted>},
    {"MaxSubmitJobsPU", set_qos_count<&Qos::of_user, &A::submitted>},
    {"MaxSubmitJobsPerUser", set_qos_count<&Qos::of_user, &A::submitted>},
    {"MaxSubmitPU", set_qos_count<&Qos::of_user, &A::submitted>},
    {"MaxSubmitJobsPA", set_qos_count<&Qos::of_account, &A::submitted>},
    {"MaxSubmitJobsPerAccount", set_qos_count<&Qos::of_account, &A::submitted>},
    {"MaxSubmitPA", set_qos_count<&Qos::of_account, &A::submitted>},
    {"MaxTRES", set_qos_tres<&Qos::max_per_job>},
    {"MaxTRESPJ", set_qos_tres<&Qos::max_per_job>},
    {"MaxTRESPerJob", set_qos_tres<&Qos::max_per_job>},
    {"MaxTRESPA", set_qos_tres<&Qos::of_account, &A::tres>},
    {"MaxTRESPerAccount", set_qos_tres<&Qos::of_account, &A::tres>},
    {"MaxTRESPN", set_node_tres},
    {"MaxTRESPerNode", set_node_tres},
    {"MaxTRESPU", set_qos_tres<&Qos::of_user, &A::tres>},
    {"MaxTRESPerUser", set_qos_tres<&Qos::of_user, &A::tres>},
    {"MaxWall", set_qos_wall},
    {"MaxWallDurationPerJob", set_qos_wall},
    {"MinTRES", set_qos_tres<&Qos::min_per_job>},
    {"MinTRESPerJob", set_qos_tres<&Qos::min_per_job>},
    {"Preempt", set_preempted},
    {"PreemptExemptTime", set_qos_exempt_time},
    {"PreemptMode", set_qos_mode},
    {"Priority", set_qos_priority},
    {"GrpJobsAccrue"}, {"GrpTRESMins"}, {"GrpTRESRunMins"}, {"GrpWall"}, {"LimitFactor"}, {"MaxJobsAccruePA"},
    {"MaxJobsAccruePerAccount"}, {"MaxJobsAccruePU"}, {"MaxJobsAccruePerUser"}, {"MaxTRESMins"}, {"MaxTRESMinsPerJob"},
    {"MaxTRESRunMinsPA"}, {"MaxTRESRunMinsPU"}, {"MinPrioThreshold"}, {"RawUsage"}, {"UsageFactor"}, {"UsageThreshold"},
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
        const bool is_another =
            found && (found->set != row.set || found->tres != row.tres || !row.set);
        if (is_another) return nullptr;
        found = &row;
    }
    return found;
}

Result<void> set_qos_field(const Cluster& cluster, Qos& qos, std::string_view word,
                           const std::string& value) {
    const char last = word.empty() ? ' ' : word.back();
    const char sign = last == '+' || last == '-' ? last : '\0';
    const QosKey* row = find_qos_key(word.substr(0, word.size() - (sign ? 1 : 0)));
    if (row && !row->set)
        return Error{ErrorCode::NotSupported, fmt::format("{} of a QOS", row->key)};
    if (!row || (sign && row->set != set_preempted && row->set != set_qos_flags)) {
        return Error{ErrorCode::NotFound, fmt::format("{}={}", word, value)};
    }
    return row->set(qos, {row->key, sign, value, cluster, row->tres});
}

}  // namespace

Result<void> set_qos_fields(const Cluster& cluster, Qos& qos, const Changes& changes) {
    for (const auto& [key, value] : changes) TRY(set_qos_field(cluster, qos, key, value));
    return {};
}

}  // namespace sluice
