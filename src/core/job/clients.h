// core/job/clients.h
//
// Clients that wait for a job to start or to end, and jobs of salloc whose client is gone.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/cow_table.h"
#include "core/event.h"
#include "core/job/by_job.h"
#include "model/job.h"

namespace sluice {

struct Waiter {
    RequestId request;
    WaitFor until = WaitFor::Ended;
    UserId user;
    std::optional<StepId> own_step = {};
};

class Clients {
public:
    bool any_waits() const { return !waiters_.empty(); }
    bool any_awaits_end_of(JobId job) const;
    // A client that waits for the end of a job of salloc is the salloc: it is no longer gone.
    void add(JobId job, Waiter waiter);
    // Removes the waiters of the job for which is_answered(waiter) is true.
    template <typename IsAnswered>
    void answer(JobId job, IsAnswered is_answered) {
        erase_of(waiters_, job, is_answered);
    }
    // Removes the waiter of the request; returns the job it waited for, and its user.
    std::vector<std::pair<JobId, UserId>> drop(RequestId request);

    // The salloc of the job has until `end` to return.
    void client_is_gone(JobId job, Time end) { gone_[job.value] = end; }
    // Whether it has not returned in time. If so, this is forgotten.
    bool take_lost(JobId job, Time now);
    void forget(JobId job) { gone_.erase(job.value); }
    void shift(Seconds by);  // the clock was set

    // No client waits for a job that is over, and only known jobs have lost their client.
    std::optional<std::string> broken(const CowTable<Job>& jobs) const;

private:
    ByJob<Waiter> waiters_;
    std::unordered_map<std::uint32_t, Time> gone_;  // by job id
};

}  // namespace sluice
