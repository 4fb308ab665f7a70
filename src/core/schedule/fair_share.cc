#include "core/schedule/fair_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sluice {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Compat: users before accounts, each by name.
bool is_listed_before(const Association* a, const Association* b) {
    if (a->user.empty() != b->user.empty()) return b->user.empty();
    const std::string& first = a->user.empty() ? a->account : a->user;
    const std::string& second = b->user.empty() ? b->account : b->user;
    return first != second ? first < second : a->partition < b->partition;
}

void add_line(FairShare& shares, const Association& association,
              std::optional<std::uint32_t> parent) {
    const auto index = static_cast<std::uint32_t>(shares.lines.size());
    ShareLine line{.association = &association, .parent = parent};
    if (parent) {
        const ShareLine& above = shares.lines[*parent];
        line.depth = above.depth + 1;
        const bool passes_on = above.parent && !above.has_own_shares();
        line.level_parent = passes_on ? above.level_parent : parent;
    }
    shares.line_of.emplace(association.id, index);
    shares.lines.push_back(std::move(line));
    std::vector<const Association*> children = shares.tree->children(association.id);
    std::sort(children.begin(), children.end(), is_listed_before);
    for (const Association* child : children) add_line(shares, *child, index);
}

double quotient(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

// Sums over the lines with the same level_parent, by its index.
struct LevelSums {
    std::vector<double> shares, usage;
};

LevelSums level_sums(const FairShare& shares) {
    LevelSums sums{std::vector<double>(shares.lines.size()),
                   std::vector<double>(shares.lines.size())};
    for (const ShareLine& line : shares.lines) {
        if (!line.level_parent || !line.has_own_shares()) continue;
        sums.shares[*line.level_parent] += line.association->shares;
        sums.usage[*line.level_parent] += line.raw_usage;
    }
    return sums;
}

void set_usage(FairShare& shares, const UsageBook& usage) {
    for (ShareLine& line : shares.lines) {
        const UsedAmounts* used = usage.of_association(line.association->id);
        if (used) line.used = *used;
        auto billed = line.used.tres_seconds.find("billing");
        if (billed != line.used.tres_seconds.end()) line.raw_usage = billed->second;
        // The root of each tree comes before all of it.
        const ShareLine* root = &line;
        while (root->parent) root = &shares.lines[*root->parent];
        line.norm_usage = quotient(line.raw_usage, root->raw_usage);
    }
}

// ---- Fair Tree

void set_levels(FairShare& shares, const LevelSums& sums) {
    for (ShareLine& line : shares.lines) {
        if (!line.level_parent) {
            line.effective_usage = 1;
            continue;
        }
        const ShareLine& above = shares.lines[*line.level_parent];
        line.effective_usage = quotient(line.raw_usage, above.raw_usage);
        line.norm_shares = line.has_own_shares()
                               ? quotient(line.association->shares, sums.shares[*line.level_parent])
                               : above.norm_shares;
        if (!line.has_own_shares())
            line.level = kInfinite;
        else if (line.association->shares == 0)
            line.level = 0;
        else
            line.level =
                line.effective_usage > 0 ? line.norm_shares / line.effective_usage : kInfinite;
    }
}

// Visits users by descending level. Users of the same level have the same rank, and so has the
// first user of an account of that level; accounts of the same level are treated as one.
class Ranking {
public:
    explicit Ranking(FairShare& shares) : shares_(shares) {
        for (std::uint32_t i = 0; i < shares.lines.size(); ++i) {
            const ShareLine& line = shares.lines[i];
            users_ += line.is_user() ? 1 : 0;
            // The children of an account without shares of its own stand in for it.
            if (line.level_parent && (line.is_user() || line.has_own_shares()))
                members_[*line.level_parent].push_back(i);
        }
        left_ = users_;
    }

    void rank_all() {
        std::vector<std::uint32_t> first;
        for (std::uint32_t i = 0; i < shares_.lines.size(); ++i) {
            if (!shares_.lines[i].parent) append_members(i, first);
        }
        rank(std::move(first), left_);
    }

private:
    void append_members(std::uint32_t of, std::vector<std::uint32_t>& list) const {
        auto found = members_.find(of);
        if (found != members_.end())
            list.insert(list.end(), found->second.begin(), found->second.end());
    }

    // `tie`: the rank of the first group.
    void rank(std::vector<std::uint32_t> list, std::size_t tie) {
        std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            return shares_.lines[a].level > shares_.lines[b].level;
        });
        for (std::size_t i = 0; i < list.size();) {
            const std::size_t own = i == 0 ? tie : left_;
            const double level = shares_.lines[list[i]].level;
            std::vector<std::uint32_t> below;
            for (; i < list.size() && shares_.lines[list[i]].level == level; ++i) {
                ShareLine& line = shares_.lines[list[i]];
                if (!line.is_user()) {
                    append_members(list[i], below);
                    continue;
                }
                line.factor = static_cast<double>(own) / static_cast<double>(users_);
                --left_;
            }
            if (!below.empty()) rank(std::move(below), own);
        }
    }

    FairShare& shares_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> members_;  // by level_parent
    std::size_t users_ = 0, left_ = 0;  // left_: users without a rank yet
};

// ---- the classic formulas

double classic_effective(const ShareLine& line, const ShareLine& above, double level_shares) {
    const double part = quotient(line.association->shares, level_shares);
    return line.norm_usage + (above.effective_usage - line.norm_usage) * part;
}

// DEPTH_OBLIVIOUS: R = Rparent * rl^k, in the terms of its document.
double oblivious_ratio(const ShareLine& line, const ShareLine& above, double level_ratio) {
    const double own = quotient(line.norm_usage, line.norm_shares);
    const double parent = quotient(above.effective_usage, above.norm_shares);
    const double local = quotient(own, level_ratio);
    if (local == 0 || parent == 0) return 0;
    const double pull = std::log(parent);
    const double k = pull * std::log(local) < 0 ? 1 / (1 + 25 * pull * pull) : 1;
    return parent * std::pow(local, k);
}

void set_classic(FairShare& shares, const LevelSums& sums, const PrioritySettings& settings) {
    const bool is_oblivious = settings.has_flag("DEPTH_OBLIVIOUS");
    for (ShareLine& line : shares.lines) {
        if (!line.level_parent) {
            line.norm_shares = line.effective_usage = 1;
        } else if (const ShareLine& above = shares.lines[*line.level_parent];
                   !line.has_own_shares()) {
            line.norm_shares = above.norm_shares;
            line.effective_usage = above.effective_usage;
        } else {
            const double level_shares = sums.shares[*line.level_parent];
            line.norm_shares = above.norm_shares * quotient(line.association->shares, level_shares);
            const bool is_first_tier = !above.level_parent;
            const double level_usage = above.raw_usage > 0 ? sums.usage[*line.level_parent] /
                                                                 above.raw_usage * above.norm_usage
                                                           : 0;
            if (is_first_tier || (is_oblivious && line.norm_shares == 0))
                line.effective_usage = line.norm_usage;
            else if (is_oblivious)
                line.effective_usage =
                    line.norm_shares *
                    oblivious_ratio(line, above, quotient(level_usage, above.norm_shares));
            else
                line.effective_usage = classic_effective(line, above, level_shares);
        }
        if (line.norm_shares > 0) {
            line.factor = std::exp2(-line.effective_usage / line.norm_shares / settings.dampening);
        }
    }
}

}  // namespace

const ShareLine* FairShare::find(std::string_view account, UserId user,
                                 std::string_view partition) const {
    const Association* own = tree ? tree->find(account, user, partition) : nullptr;
    auto found = own ? line_of.find(own->id) : line_of.end();
    return found == line_of.end() ? nullptr : &lines[found->second];
}

FairShare fair_share_of(std::shared_ptr<const Policy> policy,
                        std::shared_ptr<const AssociationTree> tree, const UsageBook& usage,
                        const PrioritySettings& settings) {
    FairShare shares;
    shares.policy = std::move(policy);
    shares.tree = std::move(tree);
    shares.is_fair_tree =
        !settings.has_flag("NO_FAIR_TREE") && !settings.has_flag("DEPTH_OBLIVIOUS");
    for (const Association& association : shares.policy->associations) {
        if (association.parent == 0 && shares.tree->find(association.id) == &association)
            add_line(shares, association, {});
    }
    set_usage(shares, usage);
    const LevelSums sums = level_sums(shares);
    if (!shares.is_fair_tree) {
        set_classic(shares, sums, settings);
        return shares;
    }
    set_levels(shares, sums);
    Ranking(shares).rank_all();
    return shares;
}

}  // namespace sluice
