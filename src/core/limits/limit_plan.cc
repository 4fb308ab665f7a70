// See limit_plan.h.
#include "core/limits/limit_plan.h"

#include <fmt/format.h>

#include "core/schedule/planner.h"

namespace sluice {

CountTimeline& LimitPlan::line_of(const LimitCheck& check, const Job& job) {
    std::string key = fmt::format("{} {}", check.key, check.tres);
    if (check.holder.association) {
        key += fmt::format(" {}", check.holder.association->id);
    } else {
        key += " " + check.holder.qos->name;
        if (check.among == LimitCheck::Among::User) key += fmt::format(" {}", job.user.value);
        if (check.among == LimitCheck::Among::Account) key += " " + job.request->account;
    }
    auto [place, is_new] = lines_.try_emplace(std::move(key));
    CountTimeline& line = place->second;
    if (!is_new) return line;
    line.add(now_, static_cast<std::int64_t>(check.most));
    for (const auto& [id, entry] : cluster_.limits().jobs()) {
        const std::uint64_t held = check.held_by(entry, job, now_);
        if (held > 0)
            line.take(static_cast<std::int64_t>(held), now_,
                      expected_end(cluster_, cluster_.job(JobId{id}), now_));
    }
    return line;
}

std::optional<Time> LimitPlan::earliest(const Job& job, const Partition& partition, Time from) {
    const std::vector<LimitCheck> checks = limits_on(cluster_, job, partition, now_);
    for (bool agree = false; !agree;) {  // all of them at the same moment
        agree = true;
        for (const LimitCheck& check : checks) {
            if (!check.is_shared() && check.is_broken()) return {};
            if (!check.is_shared() || check.wanted == 0) continue;
            auto at =
                line_of(check, job)
                    .earliest(static_cast<std::int64_t>(check.wanted), longest_run(job), from);
            if (!at) return {};
            agree = agree && *at == from;
            from = *at;
        }
    }
    return from;
}

void LimitPlan::take(const Job& job, const Partition& partition, Time start) {
    for (const LimitCheck& check : limits_on(cluster_, job, partition, now_)) {
        if (!check.is_shared()) continue;
        line_of(check, job)
            .take(static_cast<std::int64_t>(check.wanted), start, start + longest_run(job));
    }
}

}  // namespace sluice
