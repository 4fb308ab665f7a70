// core/schedule/fair_share.h
//
// How much of the cluster each association has been promised (shares) and has used, and the
// fair-share factor that follows: by the rank in the tree (Fair Tree), or with PriorityFlags
// NO_FAIR_TREE and DEPTH_OBLIVIOUS by the classic formulas. One value per calculation, shared with
// snapshots: sshare and sprio show exactly what the queue is ordered by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/limits/associations.h"
#include "core/limits/usage_book.h"
#include "core/settings.h"

namespace sluice {

struct ShareLine {
    const Association* association = nullptr;  // part of the tree
    std::optional<std::uint32_t> parent;       // line
    std::uint32_t depth = 0;
    // The nearest line above with shares of its own, or the root: among those with the same one
    // shares and usage are compared (Fairshare=parent).
    std::optional<std::uint32_t> level_parent;
    UsedAmounts used;      // of all below it, too
    double raw_usage = 0;  // billing * seconds
    double norm_shares = 0, norm_usage = 0, effective_usage = 0;
    double level = 0;   // Fair Tree: norm_shares / effective_usage, or infinite
    double factor = 0;  // 0 to 1; accounts have none with Fair Tree

    bool has_own_shares() const { return association->shares != kSharesOfParent; }
    bool is_user() const { return !association->user.empty(); }
};

struct FairShare {
    std::shared_ptr<const Policy> policy;         // keeps the associations
    std::shared_ptr<const AssociationTree> tree;  // may be null: no accounting
    std::vector<ShareLine> lines;                 // in the order of sshare: parents first
    std::unordered_map<std::uint32_t, std::uint32_t> line_of;  // by association
    bool is_fair_tree = true;

    bool empty() const { return lines.empty(); }
    // The line of the user's association for the partition, or for all; null: there is none.
    const ShareLine* find(std::string_view account, UserId user, std::string_view partition) const;
};

FairShare fair_share_of(std::shared_ptr<const Policy> policy,
                        std::shared_ptr<const AssociationTree> tree, const UsageBook& usage,
                        const PrioritySettings& settings);

}  // namespace sluice
