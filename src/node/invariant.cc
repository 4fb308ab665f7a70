// What always holds between two events.
#include <fmt/format.h>

#include <algorithm>

#include "node/apply.h"

namespace sluice {

namespace {

bool waits_for_user(const NodeState& state, const RunKey& run) {
    return std::any_of(state.questions.begin(), state.questions.end(), [&](const auto& entry) {
        const std::vector<RunKey>& waiting = entry.second.waiting;
        return std::find(waiting.begin(), waiting.end(), run) != waiting.end();
    });
}

std::optional<std::string> broken_run(const NodeState& state, const JobHere& job,
                                      const RunKey& key) {
    const RunHere& run = job.runs.at(key.step);
    if (state.unacknowledged.contains(key)) return "runs after its end was reported";
    if (state.unreleased.contains(key)) return "runs after its end";
    if (state.never_start.contains(key)) return "runs after it was cancelled";
    if (job.is_preparing() && run.is_supervised) return "runs before its prolog or its data";
    const bool waits = job.is_preparing() || waits_for_user(state, key);
    if (!run.is_supervised && !waits && !run.give_up_at) return "waits for nothing";
    return {};
}

std::optional<std::string> broken_job(const JobHere& job) {
    const bool must_close = job.is_ending || job.batch_end;
    if (job.is_closing && !job.runs.empty()) return "has runs beside its epilog";
    if (job.is_syncing && !job.is_closing) return "is synchronised before its end";
    const bool in_prolog = job.is_preparing();
    if (job.runs.empty() && must_close && !job.is_closing && !in_prolog)
        return "is left but not closed";
    if (in_prolog && job.runs.empty() && !job.is_prepared_for) return "has a prolog alone";
    if (in_prolog && job.is_closing) return "has an epilog beside its prolog";
    return {};
}

}  // namespace

std::optional<std::string> broken_invariant(const NodeState& state) {
    for (const auto& [key, job] : state.jobs) {
        if (auto how = broken_job(job)) return fmt::format("job {} {}", key.job.value, *how);
        for (const auto& [step, run] : job.runs) {
            if (auto how = broken_run(state, job, {key, step}))
                return fmt::format("run {} {}", print_run({key, step}), *how);
        }
    }
    for (const auto& [user, question] : state.questions) {
        const RunHere* asker = state.find(question.asker);
        if (!asker || !asker->is_supervised)
            return fmt::format("nobody asks for user {}", user.first);
        for (const RunKey& run : question.waiting) {
            if (!state.find(run)) return fmt::format("{} waits and is gone", print_run(run));
        }
    }
    return {};
}

}  // namespace sluice
