// policy/change.h
//
// A change of accounting's policy, as sacctmgr sends it: typed, and pure data. policy/apply.h
// applies it. The tool runs the same code first to show what would change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/qos.h"
#include "policy/association_change.h"

namespace sluice {

enum class PolicyVerb : std::uint8_t { Add, Modify, Delete };
enum class PolicyEntity : std::uint8_t {
    Account,
    User,  // with its associations
    Qos,
    Coordinator,
    Cluster,
    Resource,  // a licence that clusters share
};

// What is set on accounts, users and clusters, besides limits. Absent members stay.
struct RecordChange {
    std::optional<std::string> description, organization;                 // accounts
    std::optional<std::string> parent;                                    // accounts: moves them
    std::optional<std::string> default_account, default_wckey, new_name;  // users
    std::optional<AdminLevel> admin_level;                                // users
    std::optional<std::string> classification;                            // clusters
    bool operator==(const RecordChange&) const = default;
};

struct ResourceChange {
    std::optional<std::uint64_t> count;
    std::optional<std::string> description, manager, server_type;
    std::optional<std::uint64_t> allowed;  // of the clusters of the step; in percent of the count
    bool is_absolute = false;              // `allowed` is a number of licences
    bool operator==(const ResourceChange&) const = default;
};

// One command. Lists that are empty select everything (modify, delete), or have the default of the
// entity (add). Names are in lower case.
struct PolicyStep {
    PolicyVerb verb = PolicyVerb::Add;
    PolicyEntity entity = PolicyEntity::Account;
    std::vector<std::string> names;  // of what the entity says; of coordinators: the users
    std::vector<std::string> clusters, accounts, partitions, wckeys;  // to add to, or conditions
    std::vector<std::string> parents, default_accounts, descriptions, organizations, servers;
    RecordChange record;
    AssociationChange limits;
    QosChange qos;
    ResourceChange resource;
    bool operator==(const PolicyStep&) const = default;
};

// All steps are done, or none.
struct PolicyChange {
    std::vector<PolicyStep> steps;
    bool operator==(const PolicyChange&) const = default;
};

}  // namespace sluice
