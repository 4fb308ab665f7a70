// accounting/view.h
//
// What a user sees of accounting: PrivateData hides words of it from users and coordinators.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "model/accounted.h"
#include "model/policy.h"

namespace sluice {

struct AccountingCaller {
    UserId user;
    std::string name;
    bool is_root = false;  // root or SlurmUser
};
AdminLevel level_of(const Policy& policy, const AccountingCaller& viewer);

struct HiddenData {  // PrivateData
    bool jobs = false, users = false, accounts = false, usage = false, events = false;
    bool reservations = false;
};
enum class HiddenKind : std::uint8_t { Jobs, Users, Accounts, Usage, Events, Reservations };

// Borrows the policy.
class AccountingView {
public:
    AccountingView(const Policy& policy, const AccountingCaller& viewer, const HiddenData& hidden);

    UserId user() const { return viewer_.user; }
    bool sees_all(HiddenKind kind) const;
    bool sees_jobs_of_others() const;  // at least of some
    bool sees(const AccountedJob& job) const;
    bool sees_usage_of(std::uint32_t association) const;
    bool sees_usage_of_wckey(std::uint32_t wckey) const;
    Policy visible_policy() const;

private:
    enum class Extent : std::uint8_t { Nothing, Own, OwnAccounts, All };
    // What is left of a kind that PrivateData hides. Operators and administrators see all.
    struct Row {
        HiddenKind kind;
        bool HiddenData::*word;
        Extent user, coordinator;
    };
    static const Row kRows[6];
    Extent extent(HiddenKind kind) const;
    bool coordinates(const std::string& account) const { return accounts_.contains(account); }
    bool is_shown(Extent extent, const Association& association) const;

    const Policy& policy_;
    AccountingCaller viewer_;
    HiddenData hidden_;
    bool is_operator_;
    std::set<std::string> accounts_;             // that the viewer coordinates, with those below
    std::set<std::uint32_t> usage_of_, wckeys_;  // ids that count as seen, where usage is hidden
};

}  // namespace sluice
