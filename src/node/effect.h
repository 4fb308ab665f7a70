// node/effect.h
//
// All that a node's decision may ask the shell to do, in this order.
#pragma once

#include <variant>

#include "node/values.h"

namespace sluice {

// Start the supervisor of a run whose order the shell keeps. Answered by SupervisorStarted,
// SupervisorEnded or SupervisorGone, or by SpawnFailed.
struct SpawnStep {
    RunKey run;
    HookJob job;              // as far as it is known by now: kept in the spool for the Epilog
    bool knows_user = false;  // the supervisor need not ask the system
};

// The order that the shell keeps for the run is not carried out.
struct RefuseLaunch {
    RunKey run;
    Error error;
};

struct RunProlog {  // answered by PrologEnded
    HookJob job;
};

struct RunDataTask {  // answered by DataTaskEnded
    HookJob job;
    DataTask task;
};

// The job ends: what the task has made so far goes with the job.
struct StopDataTask {
    JobKey job;
};

// Nothing of the job runs any more; SyncTimeout ends it. Answered by FinalSyncEnded.
struct RunFinalSync {
    HookJob job;
};

struct RunEpilog {  // answered by EpilogEnded
    HookJob job;
};

// ---- to the supervisor of a run

struct PassSignal {
    RunKey run;
    SignalOrder order;
};

struct EndRun {
    RunKey run;
    Seconds grace{0};
    std::string reason_line = {};
    bool only_step = false;  // the job goes on
};

// The controller knows the end: the supervisor may go, its mark is removed.
struct ReleaseRun {
    RunKey run;
};

// ---- runs that do not end as they should

// The supervisor died. Answered by LeftoversGone when no process is left.
struct KillLeftovers {
    RunKey run;
};

// UnkillableStepTimeout is over: kill what can be killed, the supervisor too, and run
// UnkillableStepProgram.
struct GiveUpRun {
    RunKey run;
};

struct RemoveDirectory {  // of the job, in the spool
    JobId job;
};

// ---- reports to the controller, repeated until it has stored them

struct ReportLaunch {
    RunKey run;
    std::optional<Error> error = {};
};

struct ReportJobEnd {
    RunKey run;
    RunEnd end;
    bool epilog_failed = false;
    bool is_cleaning = false;  // the files of the job are still synchronised: not repeated
};

struct ReportStepEnd {
    RunKey run;
    RunEnd end;
};

struct ReportCleaned {
    JobKey job;
    bool epilog_failed = false;
};

struct ReportKillFailed {
    RunKey run;
};

using NodeEffect = std::variant<SpawnStep, RefuseLaunch, RunProlog, RunDataTask, StopDataTask,
                                RunFinalSync, RunEpilog, PassSignal, EndRun, ReleaseRun,
                                KillLeftovers, GiveUpRun, RemoveDirectory, ReportLaunch,
                                ReportJobEnd, ReportStepEnd, ReportCleaned, ReportKillFailed>;
using NodeEffects = std::vector<NodeEffect>;

}  // namespace sluice
