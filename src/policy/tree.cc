// See tree.h.
#include "policy/tree.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sluice {

namespace {

using Children = std::map<std::uint32_t, std::vector<const Association*>>;

void append_below(const Children& children, std::uint32_t parent,
                  std::vector<const Association*>& out) {
    const auto found = children.find(parent);
    if (found == children.end()) return;
    for (const Association* each : found->second) {
        out.push_back(each);
        append_below(children, each->id, out);
    }
}

}  // namespace

std::vector<const Association*> tree_order(const Policy& policy, bool with_deleted) {
    Children children;
    for (const Association& each : policy.associations) {
        if (with_deleted || !each.deleted) children[each.parent].push_back(&each);
    }
    for (auto& [parent, list] : children) {
        std::sort(list.begin(), list.end(), [](const Association* a, const Association* b) {
            const bool a_is_account = a->user.empty(), b_is_account = b->user.empty();
            return std::tie(a->cluster, a_is_account, a->account, a->user, a->partition) <
                   std::tie(b->cluster, b_is_account, b->account, b->user, b->partition);
        });
    }
    std::vector<const Association*> out;
    append_below(children, 0, out);
    return out;
}

}  // namespace sluice
