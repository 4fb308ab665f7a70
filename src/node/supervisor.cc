// What supervisors report of their runs, and runs whose supervisor or processes do not go away as
// they should (UnkillableStepTimeout).
#include "node/handlers.h"

namespace sluice {

namespace {

// What a supervisor may need beside the grace time: the epilogs of tasks.
constexpr Seconds kSupervisorTime{5};

RunEnd end_without_report(const RunHere& run) {
    return run.so_far.value_or(RunEnd{.exit = kKilled});
}

// The job ends for the controller, and the node gets no other one.
void give_up(const Deciding& on, const RunKey& run) {
    on.add(GiveUpRun{run});
    on.add(ReportKillFailed{run});
    on_supervisor_ended(on, {run, end_without_report(*on.state.find(run))});
}

}  // namespace

void on_supervisor_started(const Deciding& on, const SupervisorStarted& event) {
    RunHere* run = on.state.find(event.run);
    if (!run) return;
    run->is_started = true;
    if (event.has_asked) {
        const HookJob& job = on.state.find(event.run.job)->hook;
        on.state.known_users[{job.user, job.group}] = on.now.steady;
        on_user_asked(on, event.run);
    }
    on.add(ReportLaunch{event.run});
}

void on_supervisor_state(const Deciding& on, const SupervisorState& event) {
    RunHere* run = on.state.find(event.run);
    if (!run) return;
    run->is_started = true;
    HookJob& job = on.state.find(event.run.job)->hook;
    job.user = event.user;
    job.group = event.group;
}

void on_supervisor_killing(const Deciding& on, const SupervisorKilling& event) {
    RunHere* run = on.state.find(event.run);
    if (!run) return;
    run->so_far = event.so_far;
    watch_kill(on, event.run, Seconds{0});
}

// Normally the end was reported before. Otherwise it may be in the mark; or the supervisor was
// killed, and what it looked after is still there.
void on_supervisor_gone(const Deciding& on, const SupervisorGone& event) {
    if (!on.state.find(event.run)) return;
    if (event.end) return on_supervisor_ended(on, {event.run, *event.end});
    watch_kill(on, event.run, Seconds{0});
    on.add(KillLeftovers{event.run});
}

void on_leftovers_gone(const Deciding& on, const LeftoversGone& event) {
    const RunHere* run = on.state.find(event.run);
    if (run) on_supervisor_ended(on, {event.run, end_without_report(*run)});
}

// UnkillableStepTimeout after SIGKILL, which comes when the grace time is over. The earliest time
// counts.
void watch_kill(const Deciding& on, const RunKey& key, Seconds grace) {
    RunHere* run = on.state.find(key);
    const Moment time =
        on.now.steady + grace + kSupervisorTime + on.state.settings.unkillable_step_timeout;
    run->give_up_at = std::min(run->give_up_at.value_or(time), time);
}

void on_timer(const Deciding& on) {
    std::vector<RunKey> due;
    for (const auto& [key, job] : on.state.jobs) {
        for (const auto& [step, run] : job.runs) {
            if (run.give_up_at && *run.give_up_at <= on.now.steady) due.push_back({key, step});
        }
    }
    for (const RunKey& run : due) give_up(on, run);
}

}  // namespace sluice
