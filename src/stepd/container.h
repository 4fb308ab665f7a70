// stepd/container.h
//
// All processes of a step, however they fork, change session or orphan themselves: they stay in
// the step's cgroup, and orphans become children of the supervisor.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "base/result.h"
#include "order.pb.h"
#include "os/cgroup.h"
#include "stepd/sampler.h"

namespace sluice {

class Container {
public:
    static Result<Container> create(const wire::StepOrder& order);

    std::vector<int> entries() const;  // to be joined by each task
    std::vector<pid_t> pids() const;
    void signal_all(int signal) const;
    void signal_handlers(int signal) const;  // those that have a handler for it
    // scontrol suspend and resume: with the cgroup's freezer where there is one, which no process
    // of the user can undo; else with SIGSTOP.
    void suspend() const;
    void resume() const;
    void thaw() const;  // so that it can handle the next signal
    // One round of KILL; true once nothing is left. Children are reaped by the caller between
    // rounds.
    bool kill_round(bool has_children);
    // Processes that the kernel has killed for want of memory, so far.
    std::uint64_t oom_kills() const;
    // Known once nothing is left.
    std::uint64_t memory_peak() const { return memory_peak_; }
    CgroupCount count() const;  // by the cgroup, now

private:
    std::optional<Cgroup> cgroup_;
    std::uint64_t oom_kills_ = 0;
    std::uint64_t memory_peak_ = 0;
};

// --oom-kill-step: want of memory ends all processes of the step.
bool kills_as_one(const wire::StepOrder& order);

}  // namespace sluice
