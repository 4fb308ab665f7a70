// core/schedule/waiting.h
//
// Where each job waits that has not got what it needs. A pending job is in one of these places:
//
//   the queue      it waits for free resources
//   parked         it waits for a licence, a task of its array, or a change
//   neither        it is held, depends on other jobs (dependents, singletons) or waits for its
//                  begin time (a timer)
//
// A job that is suspended so that others can use its CPUs waits for these.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/schedule/dependents.h"
#include "core/schedule/parked.h"
#include "core/schedule/queue.h"
#include "core/schedule/singletons.h"

namespace sluice {

enum class WaitsIn : std::uint8_t {
    Nothing,  // it runs, or has ended
    Queue,
    Parked,
    Hold,
    Dependency,
    BeginTime,
    Suspension,
};

class WaitingJobs {
public:
    WaitsIn place_of(const Job& job) const;
    bool is_due(JobId job) const { return queue_.contains(job) || parked_.contains(job); }
    bool any() const;  // jobs that the end of another may concern

    Queue& queue() { return queue_; }
    const Queue& queue() const { return queue_; }
    Parked& parked() { return parked_; }
    const Parked& parked() const { return parked_; }
    Dependents& dependents() { return dependents_; }
    const Dependents& dependents() const { return dependents_; }
    Singletons& singletons() { return singletons_; }
    const Singletons& singletons() const { return singletons_; }

    // Jobs that are suspended for the CPUs of others (Run::awaits_cpus).
    bool any_suspended() const { return !suspended_.empty(); }
    void add_suspended(JobId job) { suspended_.insert(job); }
    // Forgets jobs that are no longer suspended; the others, in the order of their ids.
    std::vector<JobId> suspended(const CowTable<Job>& jobs);

    // What questions about the plan need: the jobs in the queue, and the singletons.
    WaitingJobs copy_for_questions() const;

    // Every pending job is in one place, and all jobs that are queued or parked are pending.
    std::optional<std::string> broken(const Cluster& cluster) const;

private:
    Queue queue_;
    Parked parked_;
    Dependents dependents_;
    Singletons singletons_;
    std::set<JobId> suspended_;
};

}  // namespace sluice
