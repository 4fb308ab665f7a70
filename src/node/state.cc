#include "node/state.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

namespace {

constexpr Seconds kRememberedFor{600};  // longer than a credential is valid

template <typename Map, typename Key>
auto* find_in(Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

}  // namespace

std::string print_run(const RunKey& key) {
    return fmt::format("{}.{}", key.job.job.value, print_step(key.step));
}

void RecentEnds::add(const JobKey& job, const NodeTime& now) {
    while (!order_.empty() && order_.front().second + kRememberedFor < now.steady) {
        const auto end = ends_.find(order_.front().first);
        if (end != ends_.end() && end->second.steady == order_.front().second) ends_.erase(end);
        order_.pop_front();
    }
    ends_[job] = now;
    order_.emplace_back(job, now.steady);
}

bool RecentEnds::is_after(const JobKey& job, Time issued) const {
    const auto end = ends_.find(job);
    return end != ends_.end() && issued <= end->second.wall;
}

JobHere* NodeState::find(const JobKey& key) {
    return find_in(jobs, key);
}

const JobHere* NodeState::find(const JobKey& key) const {
    return find_in(jobs, key);
}

RunHere* NodeState::find(const RunKey& key) {
    JobHere* job = find(key.job);
    return job ? find_in(job->runs, key.step) : nullptr;
}

const RunHere* NodeState::find(const RunKey& key) const {
    const JobHere* job = find(key.job);
    return job ? find_in(job->runs, key.step) : nullptr;
}

std::vector<RunKey> known_runs(const NodeState& state) {
    std::vector<RunKey> known;
    for (const auto& [key, job] : state.jobs) {
        for (const auto& [step, run] : job.runs) known.push_back({key, step});
        if (job.batch_end) known.push_back(batch_of(key));
    }
    known.insert(known.end(), state.unacknowledged.begin(), state.unacknowledged.end());
    return known;
}

std::optional<Moment> next_timer(const NodeState& state) {
    std::optional<Moment> next;
    for (const auto& [key, job] : state.jobs) {
        for (const auto& [step, run] : job.runs) {
            if (run.give_up_at) next = std::min(next.value_or(*run.give_up_at), *run.give_up_at);
        }
    }
    return next;
}

}  // namespace sluice
