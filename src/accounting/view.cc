// See view.h.
#include "accounting/view.h"

#include <algorithm>

namespace sluice {

namespace {

// The accounts with this coordinator, and all below them. An account may be at different places of
// the trees of several clusters. A parent comes before its children.
std::set<std::string> coordinated_accounts(const Policy& policy, const std::string& user) {
    std::set<std::string> accounts;
    for (const Account& each : policy.accounts) {
        const auto& names = each.coordinators;
        if (!each.deleted && std::find(names.begin(), names.end(), user) != names.end())
            accounts.insert(each.name);
    }
    if (accounts.empty()) return accounts;
    std::set<std::uint32_t> ids;
    for (const Association& each : policy.associations) {
        if (each.deleted || !each.user.empty()) continue;
        if (!accounts.contains(each.account) && !ids.contains(each.parent)) continue;
        ids.insert(each.id);
        accounts.insert(each.account);
    }
    return accounts;
}

}  // namespace

AdminLevel level_of(const Policy& policy, const AccountingCaller& viewer) {
    if (viewer.is_root) return AdminLevel::Administrator;
    for (const PolicyUser& user : policy.users)
        if (user.name == viewer.name && !user.deleted) return user.admin_level;
    return AdminLevel::None;
}

constexpr AccountingView::Row AccountingView::kRows[] = {
    // clang-format off
    {HiddenKind::Jobs,         &HiddenData::jobs,         Extent::Own,     Extent::OwnAccounts},
    {HiddenKind::Users,        &HiddenData::users,        Extent::Own,     Extent::OwnAccounts},
    {HiddenKind::Accounts,     &HiddenData::accounts,     Extent::Nothing, Extent::OwnAccounts},
    {HiddenKind::Usage,        &HiddenData::usage,        Extent::Own,     Extent::OwnAccounts},
    {HiddenKind::Events,       &HiddenData::events,       Extent::Nothing, Extent::Nothing},
    {HiddenKind::Reservations, &HiddenData::reservations, Extent::Nothing, Extent::Nothing},
    // clang-format on
};

AccountingView::Extent AccountingView::extent(HiddenKind kind) const {
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& each) { return each.kind == kind; });
    if (is_operator_ || !(hidden_.*row->word)) return Extent::All;
    return accounts_.empty() ? row->user : row->coordinator;
}

AccountingView::AccountingView(const Policy& policy, const AccountingCaller& viewer,
                               const HiddenData& hidden)
    : policy_(policy),
      viewer_(viewer),
      hidden_(hidden),
      is_operator_(level_of(policy, viewer) != AdminLevel::None) {
    if (is_operator_) return;
    accounts_ = coordinated_accounts(policy, viewer.name);
    const Extent usage = extent(HiddenKind::Usage);
    if (usage == Extent::All) return;
    for (const Association& each : policy.associations)
        if (is_shown(usage, each)) usage_of_.insert(each.id);
    for (const Wckey& each : policy.wckeys)
        if (each.user == viewer.name) wckeys_.insert(each.id);
}

bool AccountingView::is_shown(Extent extent, const Association& association) const {
    if (extent == Extent::All) return true;
    if (association.user == viewer_.name) return true;
    return extent == Extent::OwnAccounts && coordinates(association.account);
}

bool AccountingView::sees_all(HiddenKind kind) const {
    return extent(kind) == Extent::All;
}

bool AccountingView::sees_jobs_of_others() const {
    return extent(HiddenKind::Jobs) != Extent::Own;
}

bool AccountingView::sees(const AccountedJob& job) const {
    const Extent jobs = extent(HiddenKind::Jobs);
    if (jobs == Extent::All || job.user == viewer_.user) return true;
    return jobs == Extent::OwnAccounts && coordinates(job.account);
}

bool AccountingView::sees_usage_of(std::uint32_t association) const {
    return sees_all(HiddenKind::Usage) || usage_of_.contains(association);
}

bool AccountingView::sees_usage_of_wckey(std::uint32_t wckey) const {
    return sees_all(HiddenKind::Usage) || wckeys_.contains(wckey);
}

Policy AccountingView::visible_policy() const {
    Policy seen = policy_;
    if (const Extent users = extent(HiddenKind::Users); users != Extent::All) {
        // Coordinators, too, see only themselves in the list of users.
        std::erase_if(seen.users,
                      [&](const PolicyUser& each) { return each.name != viewer_.name; });
        std::erase_if(seen.wckeys, [&](const Wckey& each) { return each.user != viewer_.name; });
        std::set<std::uint32_t> shown;  // with all above them: a tool shows the tree
        for (auto each = policy_.associations.rbegin(); each != policy_.associations.rend();
             ++each) {
            if (!is_shown(users, *each) && !shown.contains(each->id)) continue;
            shown.insert(each->id);
            shown.insert(each->parent);
        }
        std::erase_if(seen.associations,
                      [&](const Association& each) { return !shown.contains(each.id); });
    }
    if (!sees_all(HiddenKind::Accounts))
        std::erase_if(seen.accounts, [&](const Account& each) { return !coordinates(each.name); });
    return seen;
}

}  // namespace sluice
