// cli/sacctmgr/policy_line.h
//
// A line of a listing of accounts, users, associations or clusters. All four have the same fields:
// those of an account, user or cluster are blank where the line has none.
#pragma once

#include <span>

#include "cli/sacctmgr/table.h"
#include "model/policy.h"

namespace sluice {

struct PolicyLine {
    const Policy* policy = nullptr;
    const Account* account = nullptr;
    const PolicyUser* user = nullptr;
    const ClusterRecord* cluster = nullptr;
    const Association* own = nullptr;  // null: no association
    Association shown = {};            // with what it inherits, unless that is not wanted
    std::string indent = {};           // of the account's name in a tree
    bool with_coordinators = false;
};

std::span<const ListField<PolicyLine>> policy_fields();
// The association's QOS as the listing shows them: "high,normal".
std::string qos_of(const Association& association);
std::string shares_of(const Association& association);
std::string default_account_of(const Policy& policy, const std::string& user);
std::string default_wckey_of(const Policy& policy, const std::string& user);
std::vector<std::string> coordinated_by(const Policy& policy, const std::string& user);
std::string print_admin_level(AdminLevel level);

}  // namespace sluice
