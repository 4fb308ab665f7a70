// Performs the effects of the node's decisions on the node itself: supervisors, programs, files.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "agent/jobs.h"
#include "base/log.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/process.h"
#include "protocol/convert.h"
#include "protocol/step_mark.h"

namespace sluice {

namespace {

// Empty on a disk that is full: the step runs without it.
std::string make_pending_mark(const wire::StepOrder& order) {
    std::string path = fmt::format("{}/{}{}", order.directory(), kPendingMark, order.place());
    const std::string original = mark_original(directory_of(order.directory()));
    const bool made = link(original.c_str(), path.c_str()) == 0 ||
                      write_file_atomically(path, "", {.mode = 0600});
    return made ? path : std::string();
}

}  // namespace

void Jobs::perform(const SpawnStep& effect) {
    const auto launch = launches_.find(effect.run);
    if (launch == launches_.end()) return;
    Result<void> spawned = spawn_supervisor(effect, launch->second);
    if (!spawned) return handle(SpawnFailed{effect.run, spawned.error()});
    checkpoints_.begin(*site_, effect.run.job);
    launches_.erase(launch);
}

Result<void> Jobs::spawn_supervisor(const SpawnStep& effect, Launch& launch) {
    const JobKey& job = effect.run.job;
    Result<void> made = directories_.make(site_->spool, job.job);
    if (made && has_epilog(*site_)) {
        made = write_file_atomically(epilog_path(site_->spool, job), print_learned(effect.job),
                                     {.mode = 0600});
    }
    if (made) made = checkpoints_.keep(site_->spool, job);
    if (!made) return Error{ErrorCode::NodeUnable, made.error().detail};
    wire::StepOrder& order = launch.order;
    if (effect.knows_user) *order.mutable_known_user() = users_[{order.user(), order.group()}];
    order.set_place(make_place());
    order.set_mark(mark_path(site_->spool, effect.run, order.place()));
    order.set_pending(make_pending_mark(order));
    Result<std::unique_ptr<StepLine>> line =
        StepLine::start(loop_, site_->stepd_path, order, Fd(dup(launch.caller.connection.get())),
                        handlers_for(effect.run));
    if (!line) {
        unlink(order.pending().c_str());
        return line.error();
    }
    supervisors_[effect.run] = {*std::move(line), order.place()};
    gpus_.run_begins(effect.run, order.user(), gpus_of(order.share()));
    return {};
}

void Jobs::perform(const RefuseLaunch& effect) {
    if (effect.run.step == kBatchStep) {
        log_error("job {} cannot be launched: {}", effect.run.job.job.value,
                  to_string(effect.error));
    }
    auto launch = launches_.extract(effect.run);
    if (launch.empty() || !launch.mapped().caller.refuse) return;
    Caller& caller = launch.mapped().caller;
    caller.refuse(std::move(caller.connection), effect.error);
}

void Jobs::perform(const RunProlog& effect) {
    hooks_.run(*site_, true, effect.job, [this, job = effect.job.key](int status) {
        if (status != 0) log_error("prolog of job {} failed", job.job.value);
        handle(PrologEnded{job, status == 0});
    });
}

void Jobs::perform(const RunFinalSync& effect) {
    checkpoints_.finish(*site_, effect.job.key,
                        [this, job = effect.job.key] { handle(FinalSyncEnded{job}); });
}

void Jobs::perform(const RunEpilog& effect) {
    hooks_.run(*site_, false, effect.job, [this, job = effect.job.key](int status) {
        if (status != 0) log_error("epilog of job {} failed", job.job.value);
        handle(EpilogEnded{job, status == 0});
    });
}

StepLine* Jobs::line_to(const RunKey& key) {
    const auto found = supervisors_.find(key);
    return found == supervisors_.end() ? nullptr : found->second.line.get();
}

void Jobs::perform(const PassSignal& effect) {
    StepLine* line = line_to(effect.run);
    if (!line) return;
    wire::StepCommand command;
    wire::SignalJob& signal = *command.mutable_signal();
    *signal.mutable_run() = to_run_id(effect.run);
    signal.set_signal(effect.order.signal);
    signal.set_batch_shell(effect.order.batch_shell);
    signal.set_children(effect.order.children);
    signal.set_steps(effect.order.steps);
    signal.set_if_handled(effect.order.if_handled);
    signal.set_suspension(effect.order.suspension);
    signal.set_message(effect.order.message);
    signal.set_stack_dump(effect.order.stack_dump);
    line->send(command);
}

void Jobs::perform(const EndRun& effect) {
    StepLine* line = line_to(effect.run);
    if (!line) return;
    wire::StepCommand command;
    wire::Terminate& order = *command.mutable_terminate();
    *order.mutable_run() = to_run_id(effect.run);
    order.set_grace_seconds(effect.grace.count());
    order.set_reason_line(effect.reason_line);
    order.set_only_step(effect.only_step);
    line->send(command);
}

void Jobs::perform(const ReleaseRun& effect) {
    auto released = supervisors_.extract(effect.run);
    if (released.empty()) return;
    if (StepLine* line = released.mapped().line.get()) {
        wire::StepCommand command;
        command.mutable_end_known();
        line->send(command);
    }
    unlink(mark_path(site_->spool, effect.run, released.mapped().place).c_str());
}

void Jobs::perform(const KillLeftovers& effect) {
    log_error("[{}] the supervisor died; its processes are killed", print_run(effect.run));
    clear_leftovers(effect.run);
}

CgroupPlace Jobs::cgroup_of(const RunKey& key) const {
    return cgroup_place(*site_, key.job.job.value, print_step(key.step));
}

void Jobs::clear_leftovers(const RunKey& key) {
    if (!node_.find(key)) return;  // it was given up
    if (!site_->cgroups || kill_leftovers(cgroup_of(key))) return handle(LeftoversGone{key});
    loop_.after(std::chrono::milliseconds{100}, [this, key] { clear_leftovers(key); });
}

void Jobs::perform(const GiveUpRun& effect) {
    log_error("[{}] could not be killed within UnkillableStepTimeout, {} s: giving it up",
              print_run(effect.run), site_->config.unkillable_step_timeout.count());
    const StepLine* line = line_to(effect.run);
    if (const std::optional<pid_t> supervisor = line ? line->pid() : std::nullopt) {
        const std::vector<pid_t> left = descendants(*supervisor);
        kill(*supervisor, SIGKILL);
        for (pid_t pid : left) kill(pid, SIGKILL);
    }
    if (site_->cgroups) kill_leftovers(cgroup_of(effect.run));
    hooks_.run_unkillable(*site_, effect.run);
}

void Jobs::perform(const RemoveDirectory& effect) {
    directories_.remove(site_->spool, effect.job);
}

}  // namespace sluice
