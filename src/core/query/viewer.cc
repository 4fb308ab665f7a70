#include "core/query/viewer.h"

#include <algorithm>

#include "core/limits/reservations.h"

namespace sluice {

Viewer::Viewer(const Settings& settings, UserId user, AdminLevel level)
    : private_(settings.private_data),
      user_(user),
      slurm_user_(settings.slurm_user),
      role_(with_level(role_of(user, settings.slurm_user), level)) {}

bool Viewer::sees_jobs_of(UserId owner) const {
    const Role role = std::max(role_, role_of(user_, slurm_user_, owner));
    return !private_.jobs || may(role, Action::SeePrivateJob);
}

bool Viewer::sees(const Reservation& reservation) const {
    return !private_.reservations || may(role_, Action::SeePrivateReservation) ||
           is_open_to(reservation, user_);
}

bool Viewer::sees_nodes() const {
    return !private_.nodes || may(role_, Action::SeePrivateNodes);
}

bool Viewer::sees_usage_of(const Association& association, const AssociationTree& tree) const {
    if (!private_.usage) return true;
    Role role = association.uid ? role_of(user_, slurm_user_, association.uid) : Role::Other;
    if (tree.is_coordinator(user_, association.account)) role = std::max(role, Role::Coordinator);
    return may(std::max(role, role_), Action::SeePrivateUsage);
}

Result<void> Viewer::may_list(TableKind kind) const {
    if (kind == TableKind::Nodes && private_.nodes) return permit(role_, Action::SeePrivateNodes);
    if (kind == TableKind::Partitions && private_.partitions)
        return permit(role_, Action::SeePrivatePartitions);
    return {};
}

bool Viewer::sees_everything() const {
    const bool by_role = may(role_, Action::SeePrivateJob) && may(role_, Action::SeePrivateNodes) &&
                         may(role_, Action::SeePrivatePartitions) &&
                         may(role_, Action::SeePrivateReservation) &&
                         may(role_, Action::SeePrivateUsage);
    return by_role || !private_.any();
}

}  // namespace sluice
