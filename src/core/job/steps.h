// core/job/steps.h
//
// Requests for steps: those that wait until their job has room for the step, and those that were
// granted one. The steps themselves are in the records of their jobs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cow_table.h"
#include "core/event.h"
#include "core/job/by_job.h"
#include "model/job.h"

namespace sluice {

struct StepWaiter {
    RequestId request;
    Caller caller;
    StepDemand demand;
};

// The srun that a live step was granted to. It may end before it gets the answer, or before it has
// launched the step on its nodes.
struct StepGrant {
    RequestId request;
    StepId step;
    Time until;                      // the step may not be launched after this
    std::vector<NodeIndex> awaited;  // nodes that have not reported the launch
};

// srun --async has told its user this number; a step with it is asked for next.
struct StepNumber {
    StepId step;
    Time until;  // without a request it is forgotten then
    bool cancelled = false;
};

class Steps {
public:
    bool are_awaited() const { return !waiters_.empty(); }
    bool are_awaited(JobId job) const { return waiters_.contains(job.value); }
    void await(StepWaiter waiter);
    // Jobs with numbers of srun --async that no request waits for any longer: kept until then.
    std::vector<JobId> drop_waiters(RequestId request, Time until);
    // Removes the waiters for which is_answered(waiter) is true, the oldest first.
    template <typename IsAnswered>
    void answer(JobId job, IsAnswered is_answered) {
        erase_of(waiters_, job, is_answered);
    }

    bool any_numbered(JobId job) const;  // and not cancelled
    bool is_cancelled(JobId job, StepId number) const;
    void keep_number(JobId job, StepId step, Time until);
    bool cancel_number(JobId job, StepId step);  // false: there is no such number
    void forget_number(JobId job, StepId step);
    void forget_numbers(JobId job, Time now);  // those without a request in time

    std::span<const StepGrant> grants(JobId job) const;
    // All that were granted to one request, by job.
    std::vector<std::pair<JobId, StepId>> granted_to(RequestId request) const;
    // A step that was granted before is granted to another request.
    const StepGrant& grant(JobId job, const Step& step, RequestId request, Time until);
    void is_launched(JobId job, StepId step, NodeIndex node);
    void await_no_launch(JobId job, StepId step);
    void forget_ended(const Job& job);  // grants of steps that do not run
    void shift(Seconds by);             // the clock was set

    // Every grant is of a running step, and no request waits for a step of a job that has ended.
    std::optional<std::string> broken(const CowTable<Job>& jobs) const;

private:
    StepGrant* find(JobId job, StepId step);

    ByJob<StepWaiter> waiters_;
    ByJob<StepGrant> grants_;
    ByJob<StepNumber> numbers_;
};

}  // namespace sluice
