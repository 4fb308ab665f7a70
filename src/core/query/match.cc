#include "core/query/match.h"

#include <algorithm>

#include "core/schedule/queue.h"

namespace sluice {

namespace {

constexpr std::uint32_t bit(ShownState state) {
    return 1u << static_cast<unsigned>(state);
}

template <typename T, typename Value>
bool allows(const std::vector<T>& list, const Value& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

JobMatcher::JobMatcher(const Filter& filter, const FindNode& find_node) : filter_(filter) {
    for (const std::string& name : filter.nodes) {
        if (auto index = find_node(name)) nodes_.push_back(*index);
    }
    for (ShownState state : filter.states) states_ |= bit(state);
    if (filter.states.empty()) {
        states_ = bit(ShownState::Pending) | bit(ShownState::Running) | bit(ShownState::Suspended) |
                  bit(ShownState::Completing) | bit(ShownState::Configuring);
    }
}

bool JobMatcher::wants(const ChunkSummary<Job>& summary) const {
    if (!filter_.all_states && (summary.shown_states & states_) == 0) return false;
    if (filter_.users.empty()) return true;
    return std::any_of(filter_.users.begin(), filter_.users.end(), [&](UserId user) {
        return std::find(summary.users.begin(), summary.users.end(), user) != summary.users.end();
    });
}

bool JobMatcher::matches(const Job& job) const {
    std::uint32_t states = bit(shown_state(job));
    // Compat: a completing job is found by its base state, too, and so is one whose reservation is
    // gone.
    if (is_completing(job) || job.state == JobState::Pending)
        states |= bit(static_cast<ShownState>(job.state));
    if (!filter_.all_states && (states & states_) == 0) return false;
    if (!allows(filter_.users, job.user) || !allows(filter_.names, job.details->name()) ||
        !allows(filter_.accounts, job.request->account) || !allows(filter_.qos, job.request->qos) ||
        !allows(filter_.reservations, reservation_of(job))) {
        return false;
    }
    if (!filter_.partitions.empty()) {
        std::vector<std::string> own = partitions_of(job);
        bool any = std::any_of(own.begin(), own.end(), [&](const std::string& name) {
            return allows(filter_.partitions, name);
        });
        if (!any) return false;
    }
    if (filter_.nodes.empty()) return true;
    if (!job.allocation) return false;
    return std::any_of(
        job.allocation->nodes.begin(), job.allocation->nodes.end(), [&](const NodeShare& share) {
            return std::find(nodes_.begin(), nodes_.end(), share.node) != nodes_.end();
        });
}

}  // namespace sluice
