// See association_change.h.
#include "policy/association_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/limit_keys.h"
#include "model/times.h"

namespace sluice {

namespace {

using C = AssociationChange;
using A = AllotmentChange;
using Set = Result<void> (*)(AssociationChange& change, const LimitWord& word);

template <auto... Members>
Result<void> set_tres(C& change, const LimitWord& word) {
    return change_tres_limit((change.*....*Members), word);
}
template <auto... Members>
Result<void> set_count(C& change, const LimitWord& word) {
    return change_count_limit((change.*....*Members), word);
}
template <auto... Members>
Result<void> set_wall(C& change, const LimitWord& word) {
    return change_wall_limit((change.*....*Members), word);
}

Result<void> set_shares(C& change, const LimitWord& word) {
    if (equals_ignoring_case(word.value, "parent"))
        return change.shares = kSharesOfParent, Result<void>{};
    std::optional<LimitChange<std::uint32_t>> number;
    TRY(change_count_limit(number, word));
    change.shares = number->value.value_or(1);
    // Compat: sacctmgr dump of Slurm writes this number for "parent".
    if (*change.shares > kSharesOfParent) return invalid_limit(word);
    return {};
}

Result<void> set_priority(C& change, const LimitWord& word) {
    std::optional<LimitChange<std::uint32_t>> number;
    TRY(change_count_limit(number, word));
    change.priority = number->value.value_or(0);
    return {};
}

Result<void> set_default_qos(C& change, const LimitWord& word) {
    change.default_qos = removes_limit(word) ? "" : to_lower(word.value);
    return {};
}

Result<void> set_qos(C& change, const LimitWord& word) {
    if (word.sign == 0) {
        change.qos_replaced = true;
        change.qos_added.clear();
        change.qos_removed.clear();
    }
    if (removes_limit(word)) return {};
    for (std::string_view each : split(word.value, ',')) {
        std::string name = to_lower(trim(each));
        // Compat: QOS=+name,-name is the same as QOS+= and QOS-=.
        char sign = word.sign;
        if (name.starts_with('+') || name.starts_with('-')) {
            sign = name[0];
            name.erase(0, 1);
            change.qos_replaced = false;
        }
        if (name.empty()) continue;  // QOS= alone: as its parent
        std::erase(change.qos_added, name);
        std::erase(change.qos_removed, name);
        (sign == '-' ? change.qos_removed : change.qos_added).push_back(name);
    }
    return {};
}

Result<void> set_comment(C& change, const LimitWord& word) {
    change.comment = word.value;
    return {};
}

struct AssociationKey {
    std::string_view key;
    Set set;
    std::string_view tres = {};
};

// clang-format off
constexpr AssociationKey kAssociationKeys[] = {
    {"Comment", set_comment},
    {"DefaultQOS", set_default_qos},
    {"DefQOS", set_default_qos},
    {"Fairshare", set_shares},
    {"Shares", set_shares},
    {"GrpCPUMins", set_tres<&C::of_all, &A::minutes>, "cpu"},
    {"GrpCPURunMins", set_tres<&C::of_all, &A::run_minutes>, "cpu"},
    {"GrpCPUs", set_tres<&C::of_all, &A::tres>, "cpu"},
    {"GrpJobs", set_count<&C::of_all, &A::running>},
    {"GrpJobsAccrue", set_count<&C::of_all, &A::accruing>},
    {"GrpMemory", set_tres<&C::of_all, &A::tres>, "mem"},
    {"GrpNodes", set_tres<&C::of_all, &A::tres>, "node"},
    {"GrpSubmitJobs", set_count<&C::of_all, &A::submitted>},
    {"GrpTRES", set_tres<&C::of_all, &A::tres>},
    {"GrpTRESMins", set_tres<&C::of_all, &A::minutes>},
    {"GrpTRESRunMins", set_tres<&C::of_all, &A::run_minutes>},
    {"GrpWall", set_wall<&C::of_all, &A::wall>},
    {"MaxCPUMinsPerJob", set_tres<&C::max_minutes_per_job>, "cpu"},
    {"MaxCPUsPerJob", set_tres<&C::max_per_job>, "cpu"},
    {"MaxJobs", set_count<&C::of_each, &A::running>},
    {"MaxJobsAccrue", set_count<&C::of_each, &A::accruing>},
    {"MaxNodesPerJob", set_tres<&C::max_per_job>, "node"},
    {"MaxSubmitJobs", set_count<&C::of_each, &A::submitted>},
    {"MaxTRES", set_tres<&C::max_per_job>},
    {"MaxTRESMins", set_tres<&C::max_minutes_per_job>},
    {"MaxTRESMinsPerJob", set_tres<&C::max_minutes_per_job>},
    {"MaxTRESPerJob", set_tres<&C::max_per_job>},
    {"MaxTRESPJ", set_tres<&C::max_per_job>},
    {"MaxTRESPerNode", set_tres<&C::max_per_node>},
    {"MaxTRESPN", set_tres<&C::max_per_node>},
    {"MaxTRESRunMins", set_tres<&C::of_each, &A::run_minutes>},
    {"MaxWallDurationPerJob", set_wall<&C::max_wall>},
    {"MaxWall", set_wall<&C::max_wall>},
    {"MinPrioThreshold", set_count<&C::min_priority>},
    {"Priority", set_priority},
    {"QOS", set_qos},
    {"QosLevel", set_qos},
};
// clang-format on

const AssociationKey* find_association_key(std::string_view given) {
    const AssociationKey* found = nullptr;
    for (const AssociationKey& row : kAssociationKeys) {
        if (equals_ignoring_case(row.key, given)) return &row;
        // Compat: at least three letters, and no other meaning.
        if (given.size() < 3 || !starts_with_ignoring_case(row.key, given)) continue;
        if (!found)
            found = &row;
        else if (found->set != row.set || found->tres != row.tres) {
            // "MaxJob" means MaxJobs, not MaxJobsAccrue: the shorter key.
            if (row.key.size() < found->key.size()) found = &row;
        }
    }
    return found;
}

void apply_qos(const C& change, Association& association,
               const std::optional<std::vector<std::string>>& above) {
    if (!change.qos_replaced && change.qos_added.empty() && change.qos_removed.empty()) return;
    if (change.qos_replaced && change.qos_added.empty()) return association.qos.reset();
    std::vector<std::string> list;
    if (!change.qos_replaced) list = association.qos ? *association.qos : above.value_or(list);
    for (const std::string& name : change.qos_removed) std::erase(list, name);
    for (const std::string& name : change.qos_added) {
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    }
    std::sort(list.begin(), list.end());
    association.qos = std::move(list);
}

std::string print(const TresChange& change) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : change) {
        parts.push_back(count ? print_tres(Tres{{name, *count}}) : name + "=-1");
    }
    return join(parts, ",");
}

}  // namespace

void AssociationChange::apply_to(Association& association,
                                 const std::optional<std::vector<std::string>>& above) const {
    if (shares) association.shares = *shares;
    if (priority) association.priority = *priority;
    if (default_qos) association.default_qos = *default_qos;
    apply_qos(*this, association, above);
    apply_tres_change(max_per_job, association.max_per_job);
    apply_tres_change(max_per_node, association.max_per_node);
    apply_tres_change(max_minutes_per_job, association.max_minutes_per_job);
    if (max_wall) association.max_wall = max_wall->value;
    if (min_priority) association.min_priority = min_priority->value;
    of_all.apply_to(association.of_all);
    of_each.apply_to(association.of_each);
    if (comment) association.comment = *comment;
}

Result<void> set_association_key(AssociationChange& change, std::string_view key, char sign,
                                 const std::string& value) {
    const AssociationKey* row = find_association_key(key);
    if (!row || (sign && row->set != set_qos))
        return Error{ErrorCode::NotFound, fmt::format("{}={}", key, value)};
    return row->set(change, {row->key, sign, value, row->tres});
}

std::vector<std::pair<std::string, std::string>> settings_of(const AssociationChange& change) {
    std::vector<std::pair<std::string, std::string>> lines;
    auto text = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) lines.emplace_back(name, value);
    };
    auto count = [&](std::string_view name,
                     const std::optional<LimitChange<std::uint32_t>>& limit) {
        if (limit) text(name, limit->value ? std::to_string(*limit->value) : "NONE");
    };
    auto wall = [&](std::string_view name, const std::optional<LimitChange<Seconds>>& limit) {
        if (limit) text(name, limit->value ? print_duration(*limit->value) : "NONE");
    };
    if (change.shares) {
        text("Fairshare",
             *change.shares == kSharesOfParent ? "parent" : std::to_string(*change.shares));
    }
    count("GrpJobs", change.of_all.running);
    count("GrpJobsAccrue", change.of_all.accruing);
    count("GrpSubmitJobs", change.of_all.submitted);
    text("GrpTRES", print(change.of_all.tres));
    text("GrpTRESMins", print(change.of_all.minutes));
    text("GrpTRESRunMins", print(change.of_all.run_minutes));
    wall("GrpWall", change.of_all.wall);
    count("MaxJobs", change.of_each.running);
    count("MaxJobsPrioAcc", change.of_each.accruing);
    count("MaxSubmitJobs", change.of_each.submitted);
    text("MaxTRES", print(change.max_per_job));
    text("MaxTRESPerNode", print(change.max_per_node));
    text("MaxTRESMins", print(change.max_minutes_per_job));
    text("MaxTRESRunMins", print(change.of_each.run_minutes));
    wall("MaxWall", change.max_wall);
    count("MinPrioThreshold", change.min_priority);
    if (change.priority) text("Priority", std::to_string(*change.priority));
    text("QOS", join(change.qos_added, ","));
    if (change.default_qos) text("DefQOS", *change.default_qos);
    if (change.comment) text("Comment", *change.comment);
    return lines;
}

}  // namespace sluice
