// model/policy.h
//
// What the accounting database decides about clusters: which users may submit to which accounts,
// and under which limits. Associations form a tree per cluster: the account `root`, accounts,
// users, and users in one partition. Limits of QOS have the same form (model/qos.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/qos.h"

namespace sluice {

enum class AdminLevel : std::uint8_t { None, Operator, Administrator };

struct Account {
    std::string name;  // lower case
    std::string description;
    std::string organization;
    std::vector<std::string> coordinators;  // users
    std::uint32_t flags = 0;                // AccountFlag
    Time created{}, modified{};
    bool deleted = false;
    bool operator==(const Account&) const = default;
};

struct PolicyUser {
    std::string name;           // lower case
    std::optional<UserId> uid;  // by the directory service, if it knows the name
    AdminLevel admin_level = AdminLevel::None;
    Time created{}, modified{};
    bool deleted = false;
    bool operator==(const PolicyUser&) const = default;
};

constexpr std::uint32_t kSharesOfParent = 0x7fffffff;  // Fairshare=parent

// A node of the tree. `max_*` and of_each count for each association below that has no value of its
// own; of_all counts for everything below together.
struct Association {
    std::uint32_t id = 0;
    std::uint32_t parent = 0;  // id; 0: this is the root of its cluster
    std::string cluster;
    std::string account;
    std::string user;           // empty: of the account itself
    std::string partition;      // only with a user; empty: all
    std::optional<UserId> uid;  // of the user
    std::uint32_t shares = 1;   // or kSharesOfParent
    std::uint32_t priority = 0;
    bool is_default = false;  // the account of the user's jobs that name none
    std::string default_qos;
    // The QOS its jobs may use; absent: as its parent. Without one in the whole path: all but those
    // that nobody was given; see docs/accounting.md.
    std::optional<std::vector<std::string>> qos;
    Tres max_per_job, max_per_node;
    Tres max_minutes_per_job;                   // MaxTRESMins: limit of amount * time limit
    std::optional<Seconds> max_wall;            // of each job
    std::optional<std::uint32_t> min_priority;  // MinPrioThresh: others do not reserve resources
    Allotment of_all;                           // Grp...
    Allotment of_each;  // MaxJobs, MaxSubmitJobs, MaxJobsAccrue, MaxTRESRunMins
    std::string comment;
    std::uint32_t flags = 0;
    Time created{}, modified{};
    bool deleted = false;
    bool operator==(const Association&) const = default;
};

struct Wckey {
    std::uint32_t id = 0;
    std::string name;
    std::string cluster;
    std::string user;
    std::optional<UserId> uid;
    bool is_default = false;
    bool deleted = false;
    bool operator==(const Wckey&) const = default;
};

// sacctmgr add resource: licences that clusters share.
struct SharedLicense {
    std::uint32_t id = 0;
    std::string name, server, server_type, manager, description;
    std::uint64_t count = 0;
    std::uint32_t flags = 0;
    std::optional<Time> last_consumed_update;
    std::uint64_t last_consumed = 0;
    struct Share {
        std::string cluster;
        std::uint64_t allowed = 0;
        bool operator==(const Share&) const = default;
    };
    std::vector<Share> shares;
    bool operator==(const SharedLicense&) const = default;
};

struct ClusterRecord {
    std::uint32_t id = 0;
    std::string name;
    std::string control_host;  // of the controller that registered; empty: none has
    std::uint16_t control_port = 0;
    bool has_gang = false;  // its PreemptMode has GANG, as the controller has told
    std::uint32_t rpc_version = 0;
    std::string classification;
    std::uint32_t flags = 0;
    Time created{}, modified{};
    bool deleted = false;
    bool operator==(const ClusterRecord&) const = default;
};

struct TresKind {  // the names of resources, numbered as they appear: "cpu", "gres/gpu:a40"
    std::uint32_t id = 0;
    std::string name;
    bool operator==(const TresKind&) const = default;
};

// Replaced as a whole, never changed in place: readers share it.
struct Policy {
    std::uint64_t version = 0;  // grows with each change
    std::vector<Qos> qos;
    std::vector<Account> accounts;
    std::vector<PolicyUser> users;
    std::vector<Association> associations;  // a parent comes before its children
    std::vector<Wckey> wckeys;
    std::vector<SharedLicense> licenses;
    std::vector<ClusterRecord> clusters;
    std::vector<TresKind> tres;
    std::uint32_t next_id = 1;  // of associations, QOS and others
    bool operator==(const Policy&) const = default;
};

const Association* find_association(const Policy& policy, std::uint32_t id);

// The association with the values that count for its jobs: its own, else those of the nearest
// association above that has one. Limits by TRES are inherited one by one. Grp limits, shares and
// the comment are its own.
Association inherited(const Policy& policy, const Association& own);

}  // namespace sluice
