#include "surface/node_states.h"

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

bool in_use(NodeBase base) {
    return base == NodeBase::Allocated || base == NodeBase::Mixed;
}

template <NodeBase Base>
bool is_base(NodeBase base, std::uint32_t) {
    return base == Base;
}
template <std::uint32_t Flag>
bool has_flag(NodeBase, std::uint32_t flags) {
    return flags & Flag;
}
bool never(NodeBase, std::uint32_t) {
    return false;
}

struct Row {
    std::string_view name;
    std::string_view other;  // another spelling
    bool (*holds)(NodeBase base, std::uint32_t flags);
};

// clang-format off
constexpr Row kStates[] = {
    {"unknown",       "unk",   is_base<NodeBase::Unknown>},
    {"down",          "",      is_base<NodeBase::Down>},
    {"idle",          "",      is_base<NodeBase::Idle>},
    {"allocated",     "alloc", [](NodeBase base, std::uint32_t) { return in_use(base); }},
    {"mixed",         "mix",   [](NodeBase base, std::uint32_t flags) { return base == NodeBase::Mixed && !(flags & kNodeDrain); }},
    {"future",        "futr",  is_base<NodeBase::Future>},
    {"drain",         "",      has_flag<kNodeDrain>},
    {"drained",       "",      [](NodeBase base, std::uint32_t flags) { return (flags & kNodeDrain) && !in_use(base); }},
    {"draining",      "drng",  [](NodeBase base, std::uint32_t flags) { return (flags & kNodeDrain) && in_use(base); }},
    {"no_respond",    "",      has_flag<kNodeNoRespond>},
    {"reserved",      "resv",  has_flag<kNodeReserved>},
    {"planned",       "plnd",  has_flag<kNodePlanned>},
    {"blocked",       "block", never},
    {"cloud",         "",      has_flag<kNodeCloud>},
    {"completing",    "comp",  has_flag<kNodeCompleting>},
    {"powering_down", "",      has_flag<kNodePoweringDown>},
    {"powered_down",  "",      has_flag<kNodePoweredDown>},
    {"power_down",    "",      has_flag<kNodePowerDown>},
    {"powering_up",   "",      has_flag<kNodePoweringUp>},
    {"power_up",      "",      has_flag<kNodePowerUp>},
    {"inval",         "",      has_flag<kNodeInvalidReg>},
    {"fail",          "",      has_flag<kNodeFail>},
    {"maint",         "",      has_flag<kNodeMaint>},
    {"reboot",        "boot",  [](NodeBase, std::uint32_t flags) { return (flags & (kNodeReboot | kNodeRebootIssued)) != 0; }},
    {"reboot^",       "boot^", has_flag<kNodeRebootIssued>},
    {"external",      "",      never},
    {"dynamic_future", "",     has_flag<kNodeDynamicFuture>},
    {"dynamic_norm",  "",      has_flag<kNodeDynamic>},
};
// clang-format on

}  // namespace

Result<NodeStateFilter> NodeStateFilter::parse(std::string_view text) {
    NodeStateFilter filter;
    for (std::string_view alternative : split(text, ',')) {
        if (trim(alternative).empty()) continue;
        std::vector<Term> terms;
        std::string joined(alternative);
        for (char& c : joined) {
            if (c == '+') c = '&';
        }
        for (std::string_view word : split(joined, '&')) {
            word = trim(word);
            Term term{.inverted = word.starts_with('~')};
            if (term.inverted) word.remove_prefix(1);
            while (term.state < std::size(kStates) &&
                   !equals_ignoring_case(kStates[term.state].name, word) &&
                   (word.empty() || !equals_ignoring_case(kStates[term.state].other, word))) {
                ++term.state;
            }
            if (term.state == std::size(kStates)) {
                return Error{ErrorCode::BadArgument, std::string(word)};
            }
            terms.push_back(term);
        }
        filter.alternatives_.push_back(std::move(terms));
    }
    return filter;
}

bool NodeStateFilter::matches(NodeBase base, std::uint32_t flags) const {
    if (alternatives_.empty()) return true;
    for (const std::vector<Term>& terms : alternatives_) {
        bool all = true;
        for (const Term& term : terms) {
            all = all && kStates[term.state].holds(base, flags) != term.inverted;
        }
        if (all) return true;
    }
    return false;
}

std::string node_state_list() {
    std::string list;
    for (const Row& row : kStates) {
        if (!list.empty()) list += ',';
        list += row.name;
    }
    return list;
}

}  // namespace sluice
