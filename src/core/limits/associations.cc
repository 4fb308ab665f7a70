// See associations.h.
#include "core/limits/associations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/cluster.h"
#include "core/limits/access.h"

namespace sluice {

namespace {

std::string key_of(std::string_view account, UserId user, std::string_view partition) {
    return fmt::format("{}\n{}\n{}", account, user.value, partition);
}

bool is_unlimited(const Allotment& allotment) {
    return allotment == Allotment{};
}

void inherit(Tres& own, const Tres& above) {
    own.insert(above.begin(), above.end());  // present ones stay
}

template <typename Value>
void inherit(std::optional<Value>& own, const std::optional<Value>& above) {
    if (!own) own = above;
}

InheritedTerms own_terms(const Association& association) {
    return {association.max_per_job, association.max_per_node, association.max_minutes_per_job,
            association.max_wall,    association.min_priority, association.of_each,
            association.default_qos, association.qos};
}

InheritedTerms with_parent(InheritedTerms terms, const InheritedTerms& above) {
    inherit(terms.max_per_job, above.max_per_job);
    inherit(terms.max_per_node, above.max_per_node);
    inherit(terms.max_minutes_per_job, above.max_minutes_per_job);
    inherit(terms.max_wall, above.max_wall);
    inherit(terms.min_priority, above.min_priority);
    inherit(terms.of_each.tres, above.of_each.tres);
    inherit(terms.of_each.minutes, above.of_each.minutes);
    inherit(terms.of_each.run_minutes, above.of_each.run_minutes);
    inherit(terms.of_each.running, above.of_each.running);
    inherit(terms.of_each.submitted, above.of_each.submitted);
    inherit(terms.of_each.accruing, above.of_each.accruing);
    inherit(terms.of_each.wall, above.of_each.wall);
    if (terms.default_qos.empty()) terms.default_qos = above.default_qos;
    inherit(terms.qos, above.qos);
    return terms;
}

// Limits of its own that make its jobs differ from those of its parent.
bool has_own_limits(const Association& a) {
    return !is_unlimited(a.of_all) || !a.max_per_job.empty() || !a.max_per_node.empty() ||
           !a.max_minutes_per_job.empty() || a.max_wall || a.min_priority;
}

}  // namespace

AssociationTree::AssociationTree(std::shared_ptr<const Policy> policy)
    : policy_(std::move(policy)) {
    nodes_.reserve(policy_->associations.size());
    for (const Association& association : policy_->associations) {
        if (!association.deleted) add(association);
    }
    for (const Qos& qos : policy_->qos) {
        for (const Allotment* most : {&qos.of_all, &qos.of_user, &qos.of_account})
            note_minutes(*most);
    }
    add_people();
}

void AssociationTree::note_minutes(const Allotment& most) {
    limits_run_minutes_ = limits_run_minutes_ || !most.run_minutes.empty();
    limits_used_minutes_ = limits_used_minutes_ || !most.minutes.empty() || most.wall;
}

void AssociationTree::add(const Association& association) {
    Place place{.association = &association, .terms = own_terms(association)};
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    if (association.parent != 0) {
        auto above = by_id_.find(association.parent);
        if (above == by_id_.end()) return;
        place.parent = above->second;
        Place& parent = nodes_[above->second];
        parent.children.push_back(association.id);
        place.terms = with_parent(std::move(place.terms), parent.terms);
        place.counted = parent.counted;
        place.limit_group = parent.limit_group;
        // What each association may have counts for those below, not for this one's group.
        const Association& of_parent = *parent.association;
        if (is_unlimited(of_parent.of_all)) std::erase(place.counted, of_parent.id);
    }
    const bool counts_itself =
        !is_unlimited(association.of_all) || !is_unlimited(place.terms.of_each);
    if (counts_itself) place.counted.insert(place.counted.begin(), association.id);
    if (counts_itself || has_own_limits(association)) place.limit_group = association.id;
    has_limits_ = has_limits_ || place.limit_group != 0;
    note_minutes(association.of_all);
    note_minutes(association.of_each);
    if (association.qos) {
        given_qos_.insert(association.qos->begin(), association.qos->end());
    }
    if (association.user.empty()) {
        by_account_.emplace(association.account, index);
    } else if (association.uid) {
        by_user_.emplace(key_of(association.account, *association.uid, association.partition),
                         index);
        auto [first, is_new] = default_accounts_.try_emplace(association.uid->value, std::string());
        if (association.is_default) first->second = association.account;
    }
    by_id_.emplace(association.id, index);
    nodes_.push_back(std::move(place));
}

void AssociationTree::add_people() {
    std::unordered_map<std::string, std::uint32_t> uids;
    for (const PolicyUser& user : policy_->users) {
        if (user.deleted || !user.uid) continue;
        uids.emplace(user.name, user.uid->value);
        if (user.admin_level != AdminLevel::None) admins_[user.uid->value] = user.admin_level;
    }
    for (const Account& account : policy_->accounts) {
        if (account.deleted) continue;
        for (const std::string& name : account.coordinators) {
            if (auto found = uids.find(name); found != uids.end())
                coordinates_[found->second].push_back(account.name);
        }
    }
    for (const Wckey& wckey : policy_->wckeys) {
        if (wckey.deleted || !wckey.uid) continue;
        wckeys_.insert(fmt::format("{}\n{}", wckey.name, wckey.uid->value));
        if (wckey.is_default) default_wckeys_[wckey.uid->value] = wckey.name;
    }
}

const AssociationTree::Place& AssociationTree::at(std::uint32_t id) const {
    auto found = by_id_.find(id);
    CHECK(found != by_id_.end());
    return nodes_[found->second];
}

const Association* AssociationTree::find(std::uint32_t id) const {
    auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : nodes_[found->second].association;
}

const Association* AssociationTree::find(std::string_view account, UserId user,
                                         std::string_view partition) const {
    if (nodes_.empty()) return nullptr;
    auto found = by_user_.find(key_of(account, user, partition));
    if (found == by_user_.end()) found = by_user_.find(key_of(account, user, {}));
    return found == by_user_.end() ? nullptr : nodes_[found->second].association;
}

const Association* AssociationTree::find_account(std::string_view account) const {
    auto found = by_account_.find(std::string(account));
    return found == by_account_.end() ? nullptr : nodes_[found->second].association;
}

std::string AssociationTree::default_account(UserId user) const {
    auto found = default_accounts_.find(user.value);
    return found == default_accounts_.end() ? std::string() : found->second;
}

const Association* AssociationTree::parent(std::uint32_t id) const {
    const Place& place = at(id);
    return place.parent ? nodes_[*place.parent].association : nullptr;
}

std::vector<const Association*> AssociationTree::path(std::uint32_t id) const {
    std::vector<const Association*> found;
    for (const Association* each = find(id); each; each = parent(each->id)) found.push_back(each);
    return found;
}

std::vector<const Association*> AssociationTree::children(std::uint32_t id) const {
    std::vector<const Association*> found;
    for (std::uint32_t child : at(id).children) found.push_back(find(child));
    return found;
}

const InheritedTerms& AssociationTree::terms(std::uint32_t id) const {
    return at(id).terms;
}

const std::vector<std::uint32_t>& AssociationTree::counted(std::uint32_t id) const {
    return at(id).counted;
}

std::uint32_t AssociationTree::limit_group(std::uint32_t id) const {
    return at(id).limit_group;
}

bool AssociationTree::has_wckey(UserId user, const std::string& wckey) const {
    return wckeys_.contains(fmt::format("{}\n{}", wckey, user.value));
}

std::string AssociationTree::default_wckey(UserId user) const {
    auto found = default_wckeys_.find(user.value);
    return found == default_wckeys_.end() ? std::string() : found->second;
}

AdminLevel AssociationTree::admin_level(UserId user) const {
    auto found = admins_.find(user.value);
    return found == admins_.end() ? AdminLevel::None : found->second;
}

bool AssociationTree::is_coordinator(UserId user, std::string_view account) const {
    auto found = coordinates_.find(user.value);
    const Association* each = found == coordinates_.end() ? nullptr : find_account(account);
    for (; each; each = parent(each->id)) {
        if (std::find(found->second.begin(), found->second.end(), each->account) !=
            found->second.end())
            return true;
    }
    return false;
}

std::string holder_name(const Association& association) {
    std::string name = "account " + association.account;
    if (!association.user.empty()) name = fmt::format("user {} of {}", association.user, name);
    if (!association.partition.empty())
        name += fmt::format(" in partition {}", association.partition);
    return name;
}

std::vector<const Association*> associations_of(const Cluster& cluster, const Job& job) {
    std::vector<const Association*> found;
    const AssociationTree& tree = cluster.associations();
    if (tree.empty()) return found;
    for (const std::string& partition : partitions_of(job)) {
        const Association* each = tree.find(job.request->account, job.user, partition);
        if (each && std::find(found.begin(), found.end(), each) == found.end())
            found.push_back(each);
    }
    return found;
}

const Association* association_of(const Cluster& cluster, const Job& job) {
    const std::vector<const Association*> found = associations_of(cluster, job);
    return found.empty() ? nullptr : found.front();
}

}  // namespace sluice
