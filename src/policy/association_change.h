// policy/association_change.h
//
// What sacctmgr sets on associations: shares, QOS and limits. Typed, and applied to one association
// at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/policy.h"

namespace sluice {

// Absent members stay, or have their default.
struct AssociationChange {
    std::optional<std::uint32_t> shares;  // or kSharesOfParent
    std::optional<std::uint32_t> priority;
    std::optional<std::string> default_qos;  // empty: none of its own
    bool qos_replaced = false;               // QOS=: names that are not added are removed
    std::vector<std::string> qos_added, qos_removed;
    TresChange max_per_job, max_per_node, max_minutes_per_job;
    std::optional<LimitChange<Seconds>> max_wall;
    std::optional<LimitChange<std::uint32_t>> min_priority;
    AllotmentChange of_all, of_each;
    std::optional<std::string> comment;

    // `above` is the QOS list that the association has from its parents: QOS+= and QOS-= of one
    // without a list of its own begin with it.
    void apply_to(Association& association,
                  const std::optional<std::vector<std::string>>& above) const;
    bool is_empty() const { return *this == AssociationChange{}; }
    bool operator==(const AssociationChange&) const = default;
};

// One key of sacctmgr, any unambiguous beginning of it: "MaxJobs", "QosLevel" with the sign '+'.
// NotFound: there is no such key; BadArgument: its value is wrong. Does not check whether QOS and
// devices exist.
Result<void> set_association_key(AssociationChange& change, std::string_view key, char sign,
                                 const std::string& value);

// "Fairshare     = 5": each setting in the order and with the names of sacctmgr's output.
std::vector<std::pair<std::string, std::string>> settings_of(const AssociationChange& change);

}  // namespace sluice
