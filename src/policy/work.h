// policy/work.h
//
// What the functions of one step share: the policy that is being changed, who asks, and the list of
// what was done. The functions that find records ignore deleted ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/apply.h"

namespace sluice {

constexpr std::string_view kRootUser = "root";

struct PolicyWork {
    Policy& policy;
    const PolicyStep& step;
    const PolicyActor& actor;
    const PolicyFacts& facts;
    Time now;
    PolicyOutcome& outcome;

    void note(std::string action, std::string where, std::string info, std::string cluster = {});
};

// ---- records

Account* find_account(Policy& policy, std::string_view name);
PolicyUser* find_user(Policy& policy, std::string_view name);
Qos* find_qos(Policy& policy, std::string_view name);
ClusterRecord* find_cluster(Policy& policy, std::string_view name);

// What identifies an association.
struct AssociationKeys {
    std::string cluster, account, user = {}, partition = {};
};
Association* find_association(Policy& policy, const AssociationKeys& keys);
std::vector<Association*> associations_of_user(Policy& policy, std::string_view user);

bool has_name(const std::vector<std::string>& names, std::string_view name);
bool selects(const std::vector<std::string>& names, std::string_view name);  // an empty list: all

// The clusters that a step is about: those named, which must exist, or all.
Result<std::vector<std::string>> clusters_of(PolicyWork& work);

// Names of records are words: they are written in lists and files, and compared in lower case.
Result<void> check_name(std::string_view what, std::string_view name);
// The QOS and resources that limits name must exist.
Result<void> check_limits(PolicyWork& work);
Result<void> check_known_qos(const Policy& policy, const std::vector<std::string>& names);
Result<void> check_known_tres(const PolicyWork& work,
                              const std::vector<const TresChange*>& changes);

// ---- associations

// Makes it, or brings a deleted one back; the step's limits are set. Null: it exists already.
Association* add_association(PolicyWork& work, const AssociationKeys& keys, std::uint32_t parent);
// Sets the step's limits on these.
Result<void> limit_associations(PolicyWork& work, const std::vector<std::uint32_t>& ids);
// Refused while jobs of one of them have not ended, and for the default account of a user that has
// others.
Result<void> delete_associations(PolicyWork& work, const std::vector<std::uint32_t>& ids);
// Each association that has a default QOS may use it.
Result<void> check_default_qos(const Policy& policy, const std::vector<std::uint32_t>& ids);
// Brings parents before their children again.
void order_associations(Policy& policy);
bool is_below(const Policy& policy, const Association& association, std::uint32_t ancestor);
std::string account_above(const Policy& policy, const Association& association);

// The first association of a user on a cluster is its default.
void make_default(Policy& policy, Association& chosen);
void add_wckeys(PolicyWork& work, const std::string& user,
                const std::vector<std::string>& clusters);
Result<void> set_default_wckey(PolicyWork& work, const std::vector<std::string>& users);

// ---- who may do what

enum class PolicyRight : std::uint8_t {
    OwnDefaults,     // the default account and wckey of the actor
    UsersOfAccount,  // add, limit and delete users of an account
    AccountsBelow,   // add and limit accounts below one
    Coordinators,    // of an account
    Accounts,        // all of them: descriptions, deletion, moves
    Users,           // all of them: wckeys, new names
    AdminLevels,
    Qos,
    Clusters,
    Resources,
};
// A right of coordinators counts for the account and those below it.
Result<void> permit(const PolicyWork& work, PolicyRight right, std::string_view account = {});

// ---- steps, by entity and verb

Result<void> add_accounts(PolicyWork& work);
Result<void> modify_accounts(PolicyWork& work);
Result<void> delete_accounts(PolicyWork& work);
Result<void> add_users(PolicyWork& work);
Result<void> modify_users(PolicyWork& work);
Result<void> delete_users(PolicyWork& work);
Result<void> add_qos(PolicyWork& work);
Result<void> modify_qos(PolicyWork& work);
Result<void> delete_qos(PolicyWork& work);
Result<void> add_coordinators(PolicyWork& work);
Result<void> delete_coordinators(PolicyWork& work);
Result<void> add_clusters(PolicyWork& work);
Result<void> modify_clusters(PolicyWork& work);
Result<void> delete_clusters(PolicyWork& work);
Result<void> add_resources(PolicyWork& work);
Result<void> modify_resources(PolicyWork& work);
Result<void> delete_resources(PolicyWork& work);

}  // namespace sluice
