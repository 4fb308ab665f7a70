#include "stepd/container.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "model/errors.h"
#include "model/job_id.h"
#include "os/cgroup_kill.h"
#include "os/error.h"
#include "os/process.h"

namespace sluice {

namespace {

MemoryLimit memory_limit(const wire::Confinement& demand, bool of_job) {
    MemoryLimit limit{of_job ? demand.job_memory() : demand.step_memory(), {}};
    if (of_job ? demand.has_job_swap() : demand.has_swap()) {
        limit.swap = of_job ? demand.job_swap() : demand.swap();
    }
    return limit;
}

}  // namespace

bool kills_as_one(const wire::StepOrder& order) {
    return order.confinement().kill_as_one() || order.tasks().spec().oom_kill_step();
}

Result<Container> Container::create(const wire::StepOrder& order) {
    Container container;
    adopt_orphans();
    const wire::Confinement& demand = order.confinement();
    if (!demand.cgroup()) return container;
    CgroupLimits limits;
    if (demand.has_job_memory()) limits.job_memory = memory_limit(demand, true);
    if (demand.has_step_memory()) limits.step_memory = memory_limit(demand, false);
    limits.count_memory = demand.count_memory();
    if (demand.has_swappiness()) limits.swappiness = demand.swappiness();
    limits.oom_kills_all = kills_as_one(order);
    limits.job_cpus = demand.job_cpus();
    limits.step_cpus = demand.step_cpus();
    limits.devices_denied = {demand.devices_denied().begin(), demand.devices_denied().end()};
    CgroupPlace place{.mountpoint = demand.mountpoint(),
                      .delegated = demand.delegated(),
                      .top = demand.top(),
                      .uid = order.user(),
                      .job = order.run().job(),
                      .step = print_step(StepId{order.run().step()})};
    container.cgroup_ = TRY(as(ErrorCode::LaunchFailed, Cgroup::create(place, limits)));
    return container;
}

std::vector<int> Container::entries() const {
    return cgroup_ ? cgroup_->entries() : std::vector<int>{};
}

std::vector<pid_t> Container::pids() const {
    std::vector<pid_t> found = descendants(getpid());
    if (!cgroup_) return found;
    // A process that was just started may not have joined the cgroup yet; a process that is no
    // descendant any more is still in the cgroup.
    const std::vector<pid_t> confined = pids_in_cgroup(cgroup_->tracking());
    found.insert(found.end(), confined.begin(), confined.end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void Container::signal_all(int signal) const {
    for (pid_t pid : pids()) kill(pid, signal);
}

void Container::signal_handlers(int signal) const {
    for (pid_t pid : pids()) {
        if (handles(pid, signal)) kill(pid, signal);
    }
}

void Container::suspend() const {
    if (!cgroup_ || !freeze_cgroup(cgroup_->tracking(), true)) signal_all(SIGSTOP);
}

void Container::thaw() const {
    if (cgroup_) freeze_cgroup(cgroup_->tracking(), false);
}

void Container::resume() const {
    thaw();
    signal_all(SIGCONT);
}

std::uint64_t Container::oom_kills() const {
    return cgroup_ ? std::max(oom_kills_, cgroup_->oom_kills()) : 0;
}

CgroupCount Container::count() const {
    if (!cgroup_) return {};
    return {.memory_kb = cgroup_->memory_used() / 1024, .cpu_ms = cgroup_->cpu_us() / 1000};
}

// A process that has not entered the cgroup, or whose cgroup could not be made, is a descendant all
// the same.
bool Container::kill_round(bool has_children) {
    if (!has_children && !cgroup_) return true;
    if (!has_children) {
        oom_kills_ = cgroup_->oom_kills();
        memory_peak_ = cgroup_->memory_peak();
        if (cgroup_->remove()) return true;
    }
    if (cgroup_) kill_cgroup(cgroup_->tracking());
    // Stopped first: a process that forks faster than we read /proc would never be caught.
    const std::vector<pid_t> found = descendants(getpid());
    for (pid_t pid : found) kill(pid, SIGSTOP);
    for (pid_t pid : found) kill(pid, SIGKILL);
    return false;
}

}  // namespace sluice
