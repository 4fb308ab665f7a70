// core/query/viewer.h
//
// What a user may see of the cluster: PrivateData, and the roles that see everything.
#pragma once

#include "core/permission.h"
#include "model/columns.h"
#include "model/table.h"

namespace sluice {

class Viewer {
public:
    Viewer(const Settings& settings, UserId user, AdminLevel level = AdminLevel::None);

    bool sees_jobs_of(UserId owner) const;  // and their steps
    bool sees(const Reservation& reservation) const;
    bool sees_nodes() const;
    bool sees_usage_of(const Association& association, const AssociationTree& tree) const;
    Result<void> may_list(TableKind kind) const;  // at all
    // Whether the viewer sees everything, so that answers are the same for all such viewers.
    bool sees_everything() const;

private:
    PrivateData private_;
    UserId user_;
    UserId slurm_user_;
    Role role_;  // towards objects of other users
};

}  // namespace sluice
