// policy/users.cc
//
// Adding, changing and deleting users and their associations. See work.h.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

// The accounts to add the users to: the default account is one of them.
std::vector<std::string> accounts_to_join(const PolicyStep& step) {
    std::vector<std::string> accounts = step.accounts;
    const std::optional<std::string>& chosen = step.record.default_account;
    if (chosen && !chosen->empty() && !has_name(accounts, *chosen)) accounts.push_back(*chosen);
    return accounts;
}

Result<std::uint32_t> account_on(PolicyWork& work, const std::string& account,
                                 const std::string& cluster) {
    const Association* found = find_association(work.policy, AssociationKeys{cluster, account});
    if (found) return found->id;
    const std::string place = find_account(work.policy, account) ? " on cluster " + cluster : "";
    return Error{ErrorCode::BadArgument,
                 fmt::format(" This account '{}' doesn't exist{}.\n"
                             "        Contact your admin to add this account.\n"
                             " No associations or wckeys created.",
                             account, place)};
}

Result<void> add_user_record(PolicyWork& work, const std::string& name) {
    if (find_user(work.policy, name)) return {};
    const AdminLevel level = work.step.record.admin_level.value_or(AdminLevel::None);
    if (level != AdminLevel::None) TRY(permit(work, PolicyRight::AdminLevels));
    PolicyUser fresh{.name = name, .admin_level = level, .created = work.now, .modified = work.now};
    if (auto uid = work.facts.uids.find(name); uid != work.facts.uids.end())
        fresh.uid = uid->second;
    std::erase_if(work.policy.users, [&](const PolicyUser& each) { return each.name == name; });
    work.policy.users.push_back(std::move(fresh));
    work.outcome.names.push_back(name);
    work.note("Add Users", name, fmt::format("admin_level={}", static_cast<int>(level) + 1));
    return {};
}

bool has_default(Policy& policy, const Association& of) {
    for (const Association* each : associations_of_user(policy, of.user)) {
        if (each->cluster == of.cluster && each->is_default) return true;
    }
    return false;
}

// Adds one user to one account of one cluster, for all partitions or for each one named.
Result<void> join_account(PolicyWork& work, const AssociationKeys& keys, std::uint32_t above) {
    std::vector<std::string> partitions = work.step.partitions;
    if (partitions.empty()) partitions.emplace_back();
    for (const std::string& partition : partitions) {
        AssociationKeys wanted = keys;
        wanted.partition = partition;
        if (find_association(work.policy, wanted)) continue;
        TRY(permit(work, PolicyRight::UsersOfAccount, keys.account));
        TRY(add_user_record(work, keys.user));
        Association* added = add_association(work, wanted, above);
        const bool is_chosen = work.step.record.default_account == keys.account;
        if (is_chosen || !has_default(work.policy, *added)) make_default(work.policy, *added);
        TRY(check_default_qos(work.policy, {added->id}));
    }
    return {};
}

// Names of users that a modify or delete is about, and that exist.
std::vector<std::string> matching_users(PolicyWork& work) {
    std::vector<std::string> names;
    for (const PolicyUser& user : work.policy.users) {
        if (user.deleted || !selects(work.step.names, user.name)) continue;
        const std::vector<Association*> all = associations_of_user(work.policy, user.name);
        const bool has_account = std::any_of(all.begin(), all.end(), [&](const Association* each) {
            return each->is_default && has_name(work.step.default_accounts, each->account);
        });
        if (work.step.default_accounts.empty() || has_account) names.push_back(user.name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::uint32_t> matching_associations(PolicyWork& work,
                                                 const std::vector<std::string>& users) {
    const PolicyStep& step = work.step;
    std::vector<std::uint32_t> ids;
    for (const Association& each : work.policy.associations) {
        const bool is_meant =
            !each.deleted && has_name(users, each.user) && selects(step.clusters, each.cluster) &&
            selects(step.accounts, each.account) && selects(step.partitions, each.partition);
        if (is_meant) ids.push_back(each.id);
    }
    return ids;
}

Result<void> permit_record(PolicyWork& work, const std::vector<std::string>& users) {
    const RecordChange& given = work.step.record;
    if (given.admin_level) TRY(permit(work, PolicyRight::AdminLevels));
    if (given.new_name) TRY(permit(work, PolicyRight::Users));
    if (!given.default_account && !given.default_wckey) return {};
    const bool is_own = users == std::vector<std::string>{work.actor.name};
    if (is_own) return permit(work, PolicyRight::OwnDefaults);
    if (given.default_wckey) return permit(work, PolicyRight::Users);
    return permit(work, PolicyRight::UsersOfAccount, *given.default_account);
}

void note_modified(PolicyWork& work, const std::string& user) {
    if (!has_name(work.outcome.names, user)) work.outcome.names.push_back(user);
}

Result<void> set_default_account(PolicyWork& work, const std::vector<std::string>& users) {
    const std::string& account = *work.step.record.default_account;
    std::string strangers;
    for (const std::string& user : users) {
        std::vector<std::string> clusters;
        for (const Association* each : associations_of_user(work.policy, user)) {
            if (selects(work.step.clusters, each->cluster) && !has_name(clusters, each->cluster))
                clusters.push_back(each->cluster);
        }
        for (const std::string& cluster : clusters) {
            Association* chosen = nullptr;
            for (Association* each : associations_of_user(work.policy, user)) {
                const bool fits = each->cluster == cluster && each->account == account;
                if (fits && (!chosen || each->partition.empty())) chosen = each;
            }
            if (!chosen) {
                strangers += fmt::format("\n  U = {} C = {}", user, cluster);
                continue;
            }
            make_default(work.policy, *chosen);
            note_modified(work, user);
            work.note("Modify Associations", fmt::format("(id_assoc={})", chosen->id), "is_def=1",
                      cluster);
        }
    }
    if (strangers.empty()) return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format(" Can't modify because these users aren't associated with new default "
                             "account '{}'...{}",
                             account, strangers)};
}

Result<void> rename_user(PolicyWork& work, const std::vector<std::string>& users) {
    const std::string& name = *work.step.record.new_name;
    TRY(check_name("a user", name));
    if (users.size() != 1)
        return Error{ErrorCode::BadArgument, " NewName= needs exactly one user."};
    const bool is_taken = std::any_of(work.policy.users.begin(), work.policy.users.end(),
                                      [&](const PolicyUser& each) { return each.name == name; });
    if (is_taken)
        return Error{ErrorCode::BadArgument, fmt::format(" User {} already exists.", name)};
    const auto uid = work.facts.uids.find(name);
    const std::optional<UserId> number =
        uid == work.facts.uids.end() ? std::optional<UserId>() : uid->second;
    PolicyUser& user = *find_user(work.policy, users[0]);
    user.name = name;
    user.uid = number;
    for (Association& each : work.policy.associations) {
        if (each.user != users[0]) continue;
        each.user = name;
        each.uid = number;
    }
    for (Wckey& each : work.policy.wckeys) {
        if (each.user == users[0]) each.user = name;
    }
    for (Account& account : work.policy.accounts)
        std::replace(account.coordinators.begin(), account.coordinators.end(), users[0], name);
    note_modified(work, users[0]);
    work.note("Modify Users", fmt::format("(name='{}')", users[0]), fmt::format("name='{}'", name));
    return {};
}

Result<void> modify_records(PolicyWork& work, const std::vector<std::string>& users) {
    const RecordChange& given = work.step.record;
    if (users.empty()) return {};
    TRY(permit_record(work, users));
    for (const std::string& name : users) {
        if (!given.admin_level) break;
        PolicyUser& user = *find_user(work.policy, name);
        user.admin_level = *given.admin_level;
        user.modified = work.now;
        note_modified(work, name);
        work.note("Modify Users", fmt::format("(name='{}')", name),
                  fmt::format("admin_level={}", static_cast<int>(*given.admin_level) + 1));
    }
    if (given.default_account) TRY(set_default_account(work, users));
    if (given.default_wckey) {
        TRY(set_default_wckey(work, users));
        for (const std::string& name : users) note_modified(work, name);
    }
    if (given.new_name) TRY(rename_user(work, users));
    return {};
}

void delete_user_record(PolicyWork& work, PolicyUser& user, std::vector<std::string>& listed) {
    user.deleted = true;
    user.admin_level = AdminLevel::None;
    for (Account& account : work.policy.accounts) std::erase(account.coordinators, user.name);
    for (Wckey& wckey : work.policy.wckeys) {
        if (wckey.user != user.name || wckey.deleted) continue;
        wckey.deleted = true;
        wckey.is_default = false;
        work.note("Remove WCKeys", fmt::format("id_wckey={}", wckey.id), "", wckey.cluster);
    }
    listed.push_back(user.name);
    work.note("Remove Users", fmt::format("name='{}'", user.name), "");
}

}  // namespace

Result<void> add_users(PolicyWork& work) {
    const PolicyStep& step = work.step;
    if (step.names.empty()) return Error{ErrorCode::BadArgument, " Need name of user to add."};
    const std::vector<std::string> accounts = accounts_to_join(step);
    const std::vector<std::string> clusters = TRY(clusters_of(work));
    if (accounts.empty() && step.wckeys.empty() && !step.record.default_wckey)
        return Error{ErrorCode::BadArgument, " Need name of account to add user to."};
    TRY(check_limits(work));
    for (const std::string& user : step.names) {
        TRY(check_name("a user", user));
        for (const std::string& account : accounts) {
            for (const std::string& cluster : clusters) {
                const std::uint32_t above = TRY(account_on(work, account, cluster));
                TRY(join_account(work, {cluster, account, user}, above));
            }
        }
        if (step.wckeys.empty() && !step.record.default_wckey) continue;
        TRY(permit(work, PolicyRight::Users));
        TRY(add_user_record(work, user));
        add_wckeys(work, user, clusters);
    }
    return {};
}

Result<void> modify_users(PolicyWork& work) {
    TRY(clusters_of(work));
    const std::vector<std::string> users = matching_users(work);
    if (!work.step.limits.is_empty()) {
        const std::vector<std::uint32_t> ids = matching_associations(work, users);
        for (std::uint32_t id : ids) {
            const Association* each = find_association(std::as_const(work.policy), id);
            TRY(permit(work, PolicyRight::UsersOfAccount, each->account));
        }
        TRY(limit_associations(work, ids));
    }
    return modify_records(work, users);
}

Result<void> delete_users(PolicyWork& work) {
    const PolicyStep& step = work.step;
    TRY(clusters_of(work));
    const std::vector<std::string> users = matching_users(work);
    const std::vector<std::uint32_t> ids = matching_associations(work, users);
    for (std::uint32_t id : ids) {
        const Association* each = find_association(std::as_const(work.policy), id);
        TRY(permit(work, PolicyRight::UsersOfAccount, each->account));
    }
    const bool is_part =
        !step.accounts.empty() || !step.clusters.empty() || !step.partitions.empty();
    if (!is_part && !users.empty() && ids.empty()) TRY(permit(work, PolicyRight::Users));
    if (!is_part && has_name(users, kRootUser))
        return Error{ErrorCode::BadArgument, " You are not allowed to remove the root user."};
    TRY(delete_associations(work, ids));
    for (PolicyUser& user : work.policy.users) {
        const bool is_meant = has_name(users, user.name) && user.name != kRootUser;
        const bool was_joined = std::any_of(
            work.outcome.associations.begin(), work.outcome.associations.end(),
            [&](const ChangedAssociation& each) { return each.record.user == user.name; });
        if (!is_meant || (is_part && !was_joined)) continue;
        if (!associations_of_user(work.policy, user.name).empty()) continue;
        delete_user_record(work, user, is_part ? work.outcome.users_left : work.outcome.names);
    }
    return {};
}

}  // namespace sluice
