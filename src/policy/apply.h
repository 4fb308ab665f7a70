// policy/apply.h
//
// Applies changes to accounting's policy: which records exist, which users may change them, and
// what must hold between them. Pure: slurmctld or slurmdbd runs it to change the policy, sacctmgr
// runs it on a copy to show what would change. An error's detail is what sacctmgr prints, line by
// line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/accounting_question.h"
#include "model/policy.h"
#include "policy/change.h"

namespace sluice {

constexpr std::string_view kRootAccount = "root";

// Who asks for the change.
struct PolicyActor {
    std::string name;
    UserId uid;
    bool is_root = false;  // root or SlurmUser
};

// A job that has not ended.
struct LiveJob {
    std::uint32_t id = 0;
    std::string cluster;
    std::uint32_t association = 0;
    std::string qos, wckey;
};

// What the policy itself does not say.
struct PolicyFacts {
    std::vector<LiveJob> jobs = {};
    std::map<std::string, UserId> uids = {};      // of the users that the directory service knows
    std::vector<std::string> gres = {};           // names of devices: "gpu"; licences are in Policy
    std::vector<std::string> partition_qos = {};  // QOS of partitions, which cannot be deleted
    std::string cannot_suspend = {};  // a cluster whose PreemptMode in slurm.conf lacks GANG
};

struct ChangedAssociation {
    Association record;          // as it is now, or was before it was deleted
    std::string parent_account;  // before the change
};
// "C = oracle     A = mgra                 U = daemon    P = debug"; accounts: "A = mgrb of mgra".
std::string print_association(const ChangedAssociation& changed);

struct PolicyOutcome {
    std::vector<std::string> names;  // records that were added, changed or deleted
    std::vector<ChangedAssociation> associations;
    std::vector<Wckey> wckeys;
    std::vector<std::string> users_left;  // deleted, because they have no associations any more
    std::vector<Transaction> transactions;

    bool is_empty() const { return transactions.empty(); }
};

// Changes `policy`, its version included, or nothing. An outcome that is empty: there was nothing
// to do, because what is to be added exists, or what is to be changed does not.
Result<PolicyOutcome> apply_change(Policy& policy, const PolicyChange& change,
                                   const PolicyActor& actor, const PolicyFacts& facts, Time now);

// What the change would do. The server checks permissions and running jobs, the preview does not.
Result<PolicyOutcome> preview(Policy& policy, const PolicyChange& change);

// Numbers the names that the policy does not know yet; returns whether there were some.
bool add_tres(Policy& policy, const Tres& seen);

// Adds QOS that may name each other.
Result<void> define_qos(Policy& policy, const QosDefinitions& all, const PolicyFacts& facts,
                        Time now);

// A new database: the cluster, the account and user root, and the QOS normal.
Policy first_policy(const std::string& cluster, Time now);

}  // namespace sluice
