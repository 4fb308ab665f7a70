// policy/coordinators.cc
//
// Coordinators of accounts. See work.h.
#include <fmt/format.h>

#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

Result<void> add_coordinators(PolicyWork& work) {
    const PolicyStep& step = work.step;
    if (step.names.empty() || step.accounts.empty()) {
        return Error{ErrorCode::BadArgument, step.accounts.empty()
                                                 ? " You need to specify a account list."
                                                 : " You need to specify a user list."};
    }
    for (const std::string& account : step.accounts) {
        Account* record = find_account(work.policy, account);
        if (!record) {
            return Error{ErrorCode::BadArgument,
                         fmt::format(" You specified a non-existent account '{}'.", account)};
        }
        TRY(permit(work, PolicyRight::Coordinators, account));
        for (const std::string& user : step.names) {
            if (!find_user(work.policy, user)) {
                return Error{ErrorCode::BadArgument,
                             fmt::format(" You specified a non-existent user '{}'.", user)};
            }
            if (has_name(record->coordinators, user)) continue;
            record->coordinators.push_back(user);
            record->modified = work.now;
            if (!has_name(work.outcome.names, user)) work.outcome.names.push_back(user);
            work.note("Add Account Coord", user, account);
        }
    }
    return {};
}

Result<void> delete_coordinators(PolicyWork& work) {
    const PolicyStep& step = work.step;
    for (Account& account : work.policy.accounts) {
        if (account.deleted || !selects(step.accounts, account.name)) continue;
        const std::vector<std::string> before = account.coordinators;
        for (const std::string& user : before) {
            if (!selects(step.names, user)) continue;
            TRY(permit(work, PolicyRight::Coordinators, account.name));
            std::erase(account.coordinators, user);
            account.modified = work.now;
            work.outcome.names.push_back(fmt::format("U = {:<9} A = {:<10}", user, account.name));
            work.note("Remove Account Coords",
                      fmt::format("(user='{}') && (acct='{}')", user, account.name), "");
        }
    }
    return {};
}

}  // namespace sluice
