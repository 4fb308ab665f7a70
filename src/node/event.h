// node/event.h
//
// All that can happen to a node: orders of the controller, steps that srun brings, what supervisors
// say, and what became of effects.
#pragma once

#include <variant>

#include "node/values.h"

namespace sluice {

// ---- orders

// The shell checks the credential only if wants_batch(): a repeated order may repeat the
// credential.
struct BatchOrdered {
    HookJob job;
    std::optional<Error> refused = {};  // the credential is not valid, or the node cannot run it
};

// PrologFlags=Alloc: the job has got this node.
struct PrepareOrdered {
    HookJob job;
    bool contain = false;               // PrologFlags=Contain: and the step "extern" runs
    std::optional<Error> refused = {};  // the credential is not valid, or the node cannot run it
};

// Comes only after may_launch().
struct StepBrought {
    RunKey run;
    HookJob job;
    std::optional<Error> refused = {};  // the node cannot run it
};

struct SignalOrdered {
    JobKey job;
    SignalOrder order;
};

struct EndOrdered {
    RunKey run;
    Seconds grace{0};
    std::string reason_line = {};
    bool only_step = false;
    std::optional<HookJob> job = {};  // set: the Epilog runs also if nothing of the job ran here
};

// A report is on the controller's disk.
struct ReportStored {
    enum class Kind : std::uint8_t { JobEnd, StepEnd, Cleaned };
    Kind kind = Kind::JobEnd;
    RunKey run;
};

// ---- what became of effects

struct PrologEnded {
    JobKey job;
    bool ok = true;
};

// Of a task that was stopped, too.
struct DataTaskEnded {
    JobKey job;
    std::optional<Error> error = {};  // why the job cannot start
};

// However it ended: what went wrong was reported by itself.
struct FinalSyncEnded {
    JobKey job;
};

struct EpilogEnded {
    JobKey job;
    bool ok = true;
};

struct SpawnFailed {
    RunKey run;
    Error error;
};

struct LeftoversGone {
    RunKey run;
};

struct NodeTimerDue {};

// ---- supervisors

struct SupervisorStarted {
    RunKey run;
    bool has_asked = false;  // it has asked the system for the user and tells the result
};

// One that an earlier slurmd had started says what it runs.
struct SupervisorState {
    RunKey run;
    std::uint32_t user = 0;
    std::uint32_t group = 0;
};

// Processes of the run are still there after SIGKILL.
struct SupervisorKilling {
    RunKey run;
    RunEnd so_far;
};

struct SupervisorEnded {
    RunKey run;
    RunEnd end;
};

// The process is gone.
struct SupervisorGone {
    RunKey run;
    std::optional<RunEnd> end = {};  // that it left in its mark
};

// What an earlier slurmd has left in the spool.
struct FoundRun {
    RunKey run;
    HookJob job;
    bool is_supervised = false;
    std::optional<RunEnd> end = {};  // in the mark of one that is not
};
struct SpoolRead {
    std::vector<FoundRun> runs;
};

using NodeEvent =
    std::variant<BatchOrdered, PrepareOrdered, StepBrought, SignalOrdered, EndOrdered, ReportStored,
                 PrologEnded, DataTaskEnded, FinalSyncEnded, EpilogEnded, SpawnFailed,
                 LeftoversGone, NodeTimerDue, SupervisorStarted, SupervisorState, SupervisorKilling,
                 SupervisorEnded, SupervisorGone, SpoolRead>;

}  // namespace sluice
