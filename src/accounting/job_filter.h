// accounting/job_filter.h
//
// Which runs a question of sacct selects. The database finds candidates by its indexes
// (job_query.cc); this decides about each of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/accounted.h"
#include "model/job_id.h"

namespace sluice::accounting {

// When a run was suspended.
struct UsageInterval {
    Time start{}, end{};
};

class JobFilter {
public:
    // An error names the value that cannot be parsed: a job id, a host list.
    static Result<JobFilter> from(const JobSelection& selection, Time now);

    // The jobs that were asked for; empty: all.
    const std::multimap<JobId, JobRef>& jobs() const { return refs_; }
    std::optional<Time> start() const { return start_; }
    std::optional<Time> end() const { return end_; }
    // Whether the run must have ended in the time that was asked for.
    bool only_ended() const;
    bool asks_for_suspended() const;

    bool matches(const AccountedJob& job, const std::vector<UsageInterval>& suspended) const;
    // Removes the steps that were not asked for. False: one was asked for, and the run has none.
    bool keep_steps(AccountedRun& run) const;

private:
    // The parts of the question that name this job, or its array.
    std::vector<const JobRef*> naming(const AccountedJob& job) const;
    bool in_time(const AccountedJob& job, const std::vector<UsageInterval>& suspended) const;
    bool was_in_state(const AccountedJob& job, ShownState state,
                      const std::vector<UsageInterval>& suspended) const;
    bool has_size(const AccountedJob& job) const;
    bool has_constraints(const AccountedJob& job) const;
    bool used_a_node(const AccountedJob& job) const;

    JobSelection selection_;
    std::multimap<JobId, JobRef> refs_;
    std::set<std::string, std::less<>> nodes_;
    std::optional<Time> start_, end_;
};

// sacct's order: batch, extern, interactive, then by number.
bool step_less(StepId a, StepId b);

}  // namespace sluice::accounting
