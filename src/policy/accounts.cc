// policy/accounts.cc
//
// Adding, changing, moving and deleting accounts. See work.h.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

Result<std::uint32_t> parent_on(PolicyWork& work, const std::string& parent,
                                const std::string& cluster) {
    const Association* found = find_association(work.policy, AssociationKeys{cluster, parent});
    if (found) return found->id;
    return Error{ErrorCode::BadArgument,
                 fmt::format(" Parent account '{}' doesn't exist on cluster {}\n"
                             "        Contact your admin to add this account.\n"
                             " No associations created.",
                             parent, cluster)};
}

// Compat: without an organization, an account has that of its parent's name.
void add_account_record(PolicyWork& work, const std::string& name, const std::string& parent) {
    if (find_account(work.policy, name)) return;
    const RecordChange& given = work.step.record;
    Account fresh{
        .name = name,
        .description = given.description.value_or(name),
        .organization = given.organization.value_or(parent == kRootAccount ? name : parent),
        .created = work.now,
        .modified = work.now};
    work.note(
        "Add Accounts", name,
        fmt::format("description='{}', organization='{}'", fresh.description, fresh.organization));
    std::erase_if(work.policy.accounts, [&](const Account& each) { return each.name == name; });
    work.policy.accounts.push_back(std::move(fresh));
    work.outcome.names.push_back(name);
}

bool matches(const PolicyStep& step, const Account& account) {
    return !account.deleted && selects(step.names, account.name) &&
           selects(step.descriptions, account.description) &&
           selects(step.organizations, account.organization);
}

// The associations of the accounts themselves.
std::vector<std::uint32_t> matching_associations(PolicyWork& work) {
    std::vector<std::uint32_t> ids;
    for (const Association& each : work.policy.associations) {
        const Account* account = find_account(work.policy, each.account);
        const bool is_meant = !each.deleted && each.user.empty() && account &&
                              matches(work.step, *account) &&
                              selects(work.step.clusters, each.cluster) &&
                              selects(work.step.parents, account_above(work.policy, each));
        if (is_meant) ids.push_back(each.id);
    }
    return ids;
}

Result<void> describe_accounts(PolicyWork& work) {
    const RecordChange& given = work.step.record;
    if (!given.description && !given.organization) return {};
    TRY(permit(work, PolicyRight::Accounts));
    std::vector<std::string> info;
    if (given.description) info.push_back(fmt::format("description='{}'", *given.description));
    if (given.organization) info.push_back(fmt::format("organization='{}'", *given.organization));
    for (Account& account : work.policy.accounts) {
        if (!matches(work.step, account)) continue;
        if (given.description) account.description = *given.description;
        if (given.organization) account.organization = *given.organization;
        account.modified = work.now;
        work.outcome.names.push_back(account.name);
        work.note("Modify Accounts", fmt::format("(name='{}')", account.name), join(info, ", "));
    }
    return {};
}

Result<void> move_account(PolicyWork& work, Association& account, const std::string& parent) {
    const AssociationKeys keys{account.cluster, parent};
    const Association* above = find_association(work.policy, keys);
    if (!above) {
        return Error{ErrorCode::BadArgument,
                     fmt::format(" Parent Account {} doesn't exist.", parent)};
    }
    if (account.account == kRootAccount) {
        return Error{ErrorCode::BadArgument, " The root account has no parent."};
    }
    if (above->id == account.parent || above->id == account.id) return {};
    if (is_below(work.policy, *above, account.id)) {
        return Error{ErrorCode::BadArgument,
                     fmt::format(" Account {} can not be moved below {}, which is one of its own "
                                 "sub-accounts.",
                                 account.account, parent)};
    }
    const std::string before = account_above(work.policy, account);
    account.parent = above->id;
    account.modified = work.now;
    work.outcome.associations.push_back({account, before});
    work.note("Modify Associations", fmt::format("(id_assoc={})", account.id),
              fmt::format("parent_acct='{}'", parent), account.cluster);
    return check_default_qos(work.policy, {account.id});
}

Result<void> move_accounts(PolicyWork& work, const std::vector<std::uint32_t>& ids) {
    if (!work.step.record.parent) return {};
    TRY(permit(work, PolicyRight::Accounts));
    for (std::uint32_t id : ids) {
        for (Association& each : work.policy.associations) {
            if (each.id == id) TRY(move_account(work, each, *work.step.record.parent));
        }
    }
    return {};
}

// A coordinator may limit the accounts below its own, not its own account.
Result<void> permit_limits(PolicyWork& work, const std::vector<std::uint32_t>& ids) {
    for (std::uint32_t id : ids) {
        const Association* each = find_association(std::as_const(work.policy), id);
        TRY(permit(work, PolicyRight::AccountsBelow, account_above(work.policy, *each)));
    }
    return {};
}

}  // namespace

Result<void> add_accounts(PolicyWork& work) {
    const PolicyStep& step = work.step;
    const std::string parent = step.record.parent.value_or(std::string(kRootAccount));
    if (step.names.empty()) return Error{ErrorCode::BadArgument, " Need name of account to add."};
    const std::vector<std::string> clusters = TRY(clusters_of(work));
    TRY(check_limits(work));
    std::vector<std::uint32_t> added;
    for (const std::string& name : step.names) {
        TRY(check_name("an account", name));
        for (const std::string& cluster : clusters) {
            if (find_association(work.policy, AssociationKeys{cluster, name})) continue;
            const std::uint32_t above = TRY(parent_on(work, parent, cluster));
            TRY(permit(work, PolicyRight::AccountsBelow, parent));
            add_account_record(work, name, parent);
            added.push_back(add_association(work, {cluster, name}, above)->id);
        }
    }
    return check_default_qos(work.policy, added);
}

Result<void> modify_accounts(PolicyWork& work) {
    TRY(clusters_of(work));
    TRY(describe_accounts(work));
    const std::vector<std::uint32_t> ids = matching_associations(work);
    TRY(move_accounts(work, ids));
    if (work.step.limits.is_empty()) return {};
    TRY(permit_limits(work, ids));
    return limit_associations(work, ids);
}

// Compat: the associations below go with it. Records of sub-accounts and users stay.
Result<void> delete_accounts(PolicyWork& work) {
    if (has_name(work.step.names, kRootAccount)) {
        return Error{ErrorCode::BadArgument,
                     " You are not allowed to remove the root account.\n"
                     " Use remove cluster instead."};
    }
    std::vector<std::uint32_t> ids;
    for (std::uint32_t top : matching_associations(work)) {
        TRY(permit(work, PolicyRight::Accounts));
        if (find_association(std::as_const(work.policy), top)->account == kRootAccount) continue;
        for (const Association& each : work.policy.associations) {
            const bool is_new = std::find(ids.begin(), ids.end(), each.id) == ids.end();
            if (!each.deleted && is_new && is_below(work.policy, each, top)) ids.push_back(each.id);
        }
    }
    TRY(delete_associations(work, ids));
    for (Account& account : work.policy.accounts) {
        const bool is_used = std::any_of(
            work.policy.associations.begin(), work.policy.associations.end(),
            [&](const Association& each) { return !each.deleted && each.account == account.name; });
        if (is_used || !matches(work.step, account)) continue;
        TRY(permit(work, PolicyRight::Accounts));
        account.deleted = true;
        account.coordinators.clear();
        work.outcome.names.push_back(account.name);
        work.note("Remove Accounts", fmt::format("name='{}'", account.name), "");
    }
    return {};
}

}  // namespace sluice
