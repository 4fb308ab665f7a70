#include "core/query/match.h"

#include <algorithm>

#include "core/schedule/queue.h"

namespace sluice {

namespace {

constexpr std::uint32_t bit(ShownState state) {
    return 1u << static_cast<unsigned>(state);
}

// `list` is sorted.
template <typename T, typename Value>
bool allows(const std::vector<T>& list, const Value& value) {
    return list.empty() || std::binary_search(list.begin(), list.end(), value);
}

}  // namespace

JobMatcher::JobMatcher(const Filter& filter, std::vector<NodeIndex> nodes)
    : nodes_(std::move(nodes)), is_anywhere_(filter.nodes.empty()) {
    for (std::vector<std::string> Filter::*list :
         {&Filter::partitions, &Filter::names, &Filter::accounts, &Filter::qos,
          &Filter::reservations, &Filter::wckeys}) {
        filter_.*list = filter.*list;
        std::sort((filter_.*list).begin(), (filter_.*list).end());
    }
    filter_.users = filter.users;
    filter_.states = filter.states;
    filter_.all_states = filter.all_states;
    std::sort(filter_.users.begin(), filter_.users.end());
    std::sort(nodes_.begin(), nodes_.end());
    for (ShownState state : filter_.states) states_ |= bit(state);
    if (filter_.states.empty()) {
        states_ = bit(ShownState::Pending) | bit(ShownState::Running) | bit(ShownState::Suspended) |
                  bit(ShownState::Completing) | bit(ShownState::Configuring);
    }
}

bool JobMatcher::wants(const ChunkSummary<Job>& summary) const {
    if (!filter_.all_states && (summary.shown_states & states_) == 0) return false;
    if (filter_.users.empty()) return true;
    return std::any_of(summary.users.begin(), summary.users.end(),
                       [&](UserId user) { return allows(filter_.users, user); });
}

bool JobMatcher::matches(const Job& job) const {
    std::uint32_t states = bit(shown_state(job));
    // Compat: a completing job is also found by its base state, and so is one whose reservation was
    // deleted.
    if (is_completing(job) || job.state == JobState::Pending)
        states |= bit(static_cast<ShownState>(job.state));
    if (!filter_.all_states && (states & states_) == 0) return false;
    if (!allows(filter_.users, job.user) || !allows(filter_.names, job.details->name()) ||
        !allows(filter_.accounts, job.request->account) || !allows(filter_.qos, job.request->qos) ||
        !allows(filter_.reservations, reservation_of(job)) ||
        !allows(filter_.wckeys, job.request->wckey)) {
        return false;
    }
    if (!filter_.partitions.empty()) {
        std::vector<std::string> own = partitions_of(job);
        bool any = std::any_of(own.begin(), own.end(), [&](const std::string& name) {
            return allows(filter_.partitions, name);
        });
        if (!any) return false;
    }
    if (is_anywhere_) return true;
    if (!job.run.allocation) return false;
    return std::any_of(job.run.allocation->nodes.begin(), job.run.allocation->nodes.end(),
                       [&](const NodeShare& share) {
                           return std::binary_search(nodes_.begin(), nodes_.end(), share.node);
                       });
}

}  // namespace sluice
