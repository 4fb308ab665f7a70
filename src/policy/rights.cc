// policy/rights.cc
//
// Who may change what of the policy: one table. Administrators are root, SlurmUser and users with
// AdminLevel=Administrator.
#include <algorithm>

#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

enum class PolicyRole : std::uint8_t { User, Coordinator, Operator, Administrator };

struct RightRow {
    PolicyRight right;
    PolicyRole least;
};

constexpr RightRow kRights[] = {
    {PolicyRight::OwnDefaults, PolicyRole::User},
    {PolicyRight::UsersOfAccount, PolicyRole::Coordinator},
    {PolicyRight::AccountsBelow, PolicyRole::Coordinator},
    {PolicyRight::Coordinators, PolicyRole::Coordinator},
    {PolicyRight::Accounts, PolicyRole::Operator},
    {PolicyRight::Users, PolicyRole::Operator},
    {PolicyRight::AdminLevels, PolicyRole::Administrator},
    {PolicyRight::Qos, PolicyRole::Administrator},
    {PolicyRight::Clusters, PolicyRole::Administrator},
    {PolicyRight::Resources, PolicyRole::Administrator},
};

bool coordinates(const PolicyWork& work, const Association& association) {
    const Association* each = &association;
    while (each) {
        const Account* account = find_account(work.policy, each->account);
        if (account && has_name(account->coordinators, work.actor.name)) return true;
        each = find_association(std::as_const(work.policy), each->parent);
    }
    return false;
}

// An account may be at different places of the trees of several clusters.
bool coordinates(const PolicyWork& work, std::string_view account) {
    return std::any_of(work.policy.associations.begin(), work.policy.associations.end(),
                       [&](const Association& each) {
                           return !each.deleted && each.user.empty() && each.account == account &&
                                  coordinates(work, each);
                       });
}

PolicyRole role_of(const PolicyWork& work, std::string_view account) {
    if (work.actor.is_root) return PolicyRole::Administrator;
    const PolicyUser* user = find_user(work.policy, work.actor.name);
    if (!user) return PolicyRole::User;
    if (user->admin_level == AdminLevel::Administrator) return PolicyRole::Administrator;
    if (user->admin_level == AdminLevel::Operator) return PolicyRole::Operator;
    return !account.empty() && coordinates(work, account) ? PolicyRole::Coordinator
                                                          : PolicyRole::User;
}

}  // namespace

Result<void> permit(const PolicyWork& work, PolicyRight right, std::string_view account) {
    const RightRow* row = std::find_if(std::begin(kRights), std::end(kRights),
                                       [&](const RightRow& each) { return each.right == right; });
    if (row != std::end(kRights) && role_of(work, account) >= row->least) return {};
    return Error{ErrorCode::AccessDenied, {}};
}

}  // namespace sluice
