// core/limits/associations.h
//
// The associations of accounting's policy as a tree: which one a job belongs to, what it inherits
// from those above it, and which of them limit it. Made anew when the policy changes, then only
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/job.h"
#include "model/policy.h"

namespace sluice {

class Cluster;

// What counts for the jobs of an association: its own values, else those of the nearest association
// above that has one. Limits by TRES are inherited one by one.
struct InheritedTerms {
    Tres max_per_job, max_per_node, max_minutes_per_job;
    std::optional<Seconds> max_wall;
    std::optional<std::uint32_t> min_priority;
    Allotment of_each;
    std::string default_qos;
    std::optional<std::vector<std::string>> qos;
};

class AssociationTree {
public:
    AssociationTree() = default;
    // Deleted associations, and those whose parent is not there, are left out.
    explicit AssociationTree(std::shared_ptr<const Policy> policy);

    bool empty() const { return nodes_.empty(); }
    const Association* find(std::uint32_t id) const;
    // That of the partition, else that of all partitions.
    const Association* find(std::string_view account, UserId user,
                            std::string_view partition) const;
    const Association* find_account(std::string_view account) const;
    bool has_user(UserId user) const { return default_accounts_.contains(user.value); }
    std::string default_account(UserId user) const;  // empty: the user has none

    const Association* parent(std::uint32_t id) const;
    std::vector<const Association*> path(std::uint32_t id) const;  // itself first, the root last
    std::vector<const Association*> children(std::uint32_t id) const;
    const InheritedTerms& terms(std::uint32_t id) const;

    // Those of the path against which its jobs are counted: the ones with limits of groups, and the
    // association itself if jobs of each association are limited.
    const std::vector<std::uint32_t>& counted(std::uint32_t id) const;
    // Jobs of associations with the same value have the same limits and share their use; 0: no
    // limits.
    std::uint32_t limit_group(std::uint32_t id) const;
    bool has_limits() const { return has_limits_; }
    // Of associations or QOS: TRESRunMins; GrpTRESMins or GrpWall.
    bool limits_run_minutes() const { return limits_run_minutes_; }
    bool limits_used_minutes() const { return limits_used_minutes_; }
    // Whether some association's list names the QOS.
    bool is_given(const std::string& qos) const { return given_qos_.contains(qos); }

    bool has_wckey(UserId user, const std::string& wckey) const;
    std::string default_wckey(UserId user) const;  // empty: the user has none
    AdminLevel admin_level(UserId user) const;
    bool is_coordinator(UserId user, std::string_view account) const;  // or of one above it

private:
    struct Place {
        const Association* association = nullptr;
        std::optional<std::uint32_t> parent;  // index
        std::vector<std::uint32_t> children;  // ids
        InheritedTerms terms;
        std::vector<std::uint32_t> counted;  // ids
        std::uint32_t limit_group = 0;
    };
    void add(const Association& association);
    void add_people();
    void note_minutes(const Allotment& most);
    const Place& at(std::uint32_t id) const;

    std::shared_ptr<const Policy> policy_;
    std::vector<Place> nodes_;
    std::unordered_map<std::uint32_t, std::uint32_t> by_id_;     // index
    std::unordered_map<std::string, std::uint32_t> by_user_;     // "account\nuid\npartition": index
    std::unordered_map<std::string, std::uint32_t> by_account_;  // index
    std::unordered_map<std::uint32_t, std::string> default_accounts_;          // by uid
    std::unordered_map<std::uint32_t, AdminLevel> admins_;                     // by uid
    std::unordered_map<std::uint32_t, std::vector<std::string>> coordinates_;  // by uid: accounts
    std::unordered_set<std::string> wckeys_;                                   // "wckey\nuid"
    std::unordered_map<std::uint32_t, std::string> default_wckeys_;            // by uid
    std::unordered_set<std::string> given_qos_;
    bool has_limits_ = false;
    bool limits_run_minutes_ = false, limits_used_minutes_ = false;
};

// "account vision", "user 1000 of account vision"; for messages.
std::string holder_name(const Association& association);

// The association of the job in its first partition; null: it has none.
const Association* association_of(const Cluster& cluster, const Job& job);
// Those of all its partitions, each once.
std::vector<const Association*> associations_of(const Cluster& cluster, const Job& job);

}  // namespace sluice
