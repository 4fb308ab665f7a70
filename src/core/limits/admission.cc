// See admission.h.
#include "core/limits/admission.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/limits/qos.h"
#include "model/errors.h"

namespace sluice {

namespace {

bool allows_qos(const AssociationTree& tree, const Association& association,
                const std::string& qos) {
    const auto& list = tree.terms(association.id).qos;
    if (list) return std::find(list->begin(), list->end(), qos) != list->end();
    return qos == kDefaultQos || tree.is_given(qos);
}

// The user's association in the first partition of the list that has one.
const Association* first_association(const Cluster& cluster, UserId user,
                                     const std::string& account, std::string_view partitions) {
    for (std::string_view name : split(partitions, ',')) {
        if (const Association* found = cluster.associations().find(account, user, name))
            return found;
    }
    return cluster.associations().find(account, user, {});
}

}  // namespace

bool needs_association(const Cluster& cluster) {
    return cluster.settings().enforce_associations && !cluster.associations().empty();
}

ChargedTo charged_to(const Cluster& cluster, UserId user, const JobTerms& demand,
                     std::string_view partitions) {
    const AssociationTree& tree = cluster.associations();
    ChargedTo charged{demand.account, demand.qos, demand.wckey};
    if (!tree.empty()) {
        charged.account =
            demand.account.empty() ? tree.default_account(user) : to_lower(demand.account);
        const Association* found = first_association(cluster, user, charged.account, partitions);
        if (found && charged.qos.empty()) charged.qos = tree.terms(found->id).default_qos;
    }
    charged.qos = qos_in_force(cluster, charged.qos);
    if (charged.wckey.empty()) charged.wckey = tree.default_wckey(user);
    return charged;
}

Result<void> check_charge(const Cluster& cluster, UserId user, const JobTerms& demand,
                          std::string_view partition) {
    if (!needs_association(cluster)) return {};
    const AssociationTree& tree = cluster.associations();
    const Association* found = tree.find(demand.account, user, partition);
    if (!found) {
        Error error{ErrorCode::InvalidAccount, {}};
        error.hint = demand.account.empty()
                         ? "the user has no default account"
                         : fmt::format("account {} is not one of the user's in partition {}",
                                       demand.account, partition);
        return error;
    }
    if (!cluster.settings().enforce_qos || allows_qos(tree, *found, demand.qos)) return {};
    return Error{ErrorCode::InvalidQos,
                 {},
                 fmt::format("QOS {} is not one of {}", demand.qos, holder_name(*found))};
}

Result<void> check_charge_in_any(const Cluster& cluster, UserId user, const JobTerms& demand,
                                 std::string_view partitions) {
    Result<void> first = {};
    bool is_first = true;
    for (std::string_view name : split(partitions, ',')) {
        Result<void> checked = check_charge(cluster, user, demand, name);
        if (checked) return {};
        if (std::exchange(is_first, false)) first = std::move(checked);
    }
    return first;
}

Result<void> check_wckey(const Cluster& cluster, UserId user, const std::string& wckey) {
    if (!cluster.settings().enforce_wckeys || cluster.associations().empty()) return {};
    if (cluster.associations().has_wckey(user, wckey)) return {};
    return Error{ErrorCode::InvalidWckey,
                 {},
                 wckey.empty() ? "the user has no default wckey"
                               : fmt::format("wckey {} is not one of the user's", wckey)};
}

}  // namespace sluice
