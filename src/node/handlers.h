// node/handlers.h
//
// Which function handles which event, and what they share. For the files of this room only.
#pragma once

#include "node/apply.h"

namespace sluice {

constexpr ExitStatus kKilled{.code = 0, .signal = 9};

// What all decisions of one event use.
struct Deciding {
    NodeState& state;
    const NodeTime& now;
    NodeEffects& effects;

    template <typename Effect>
    void add(Effect effect) const {
        effects.push_back(std::move(effect));
    }
};

// launch.cc
void on_batch_ordered(const Deciding& on, const BatchOrdered& event);
void on_prepare_ordered(const Deciding& on, const PrepareOrdered& event);
void on_step_brought(const Deciding& on, const StepBrought& event);
void on_prolog_ended(const Deciding& on, const PrologEnded& event);
void end_preparation(const Deciding& on, const JobKey& key, const std::optional<Error>& error);
void on_spawn_failed(const Deciding& on, const SpawnFailed& event);
void refuse(const Deciding& on, const RunKey& run, const Error& error);
void start(const Deciding& on, const RunKey& run);  // or say why not

// data.cc
void on_data_task_ended(const Deciding& on, const DataTaskEnded& event);
// Whether the work on the job's data is done; it is started if it has not been.
bool is_after_data(const Deciding& on, JobHere& job);
void want_restore(JobHere& job);
void stop_data(const Deciding& on, const JobKey& key);

// users.cc
bool knows_user(const Deciding& on, const UserKey& user);
bool must_wait_for_user(const Deciding& on, const RunKey& run, const UserKey& user);
void on_user_asked(const Deciding& on, const RunKey& asker);

// order.cc
void on_signal_ordered(const Deciding& on, const SignalOrdered& event);
void on_end_ordered(const Deciding& on, const EndOrdered& event);
void on_report_stored(const Deciding& on, const ReportStored& event);

// supervisor.cc
void on_supervisor_started(const Deciding& on, const SupervisorStarted& event);
void on_supervisor_state(const Deciding& on, const SupervisorState& event);
void on_supervisor_killing(const Deciding& on, const SupervisorKilling& event);
void on_supervisor_gone(const Deciding& on, const SupervisorGone& event);
void on_leftovers_gone(const Deciding& on, const LeftoversGone& event);
void on_timer(const Deciding& on);
void watch_kill(const Deciding& on, const RunKey& run, Seconds grace);

// end.cc
void on_supervisor_ended(const Deciding& on, const SupervisorEnded& event);
void on_final_sync_ended(const Deciding& on, const FinalSyncEnded& event);
void on_epilog_ended(const Deciding& on, const EpilogEnded& event);
void end_runs(const Deciding& on, const JobKey& job, Seconds grace, const std::string& reason_line);
void close_if_clean(const Deciding& on, const JobKey& job);
void report_job_end(const Deciding& on, const RunKey& run, const RunEnd& end, bool epilog_failed);
void report_step_end(const Deciding& on, const RunKey& run, const RunEnd& end);
// A step that was not started, where the end of the step alone does not tell the controller enough.
void report_refusal(const Deciding& on, const RunKey& run, const Error& error);

// recover.cc
void on_spool_read(const Deciding& on, const SpoolRead& event);

}  // namespace sluice
