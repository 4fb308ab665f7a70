// core/effect.h
//
// All that a decision may ask the shell to do, once the decision is on disk.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/event.h"
#include "model/explanation.h"
#include "model/mail.h"

namespace sluice {

// ---- answers

struct Submitted {
    JobId job;
    std::vector<std::string> warnings;
    std::optional<Time> start_estimate;  // --test-only
    std::string nodes;
    std::uint32_t cpus = 0;
    std::string partition;
};

struct JobResult {
    std::string job;  // as printed: "12_3"
    std::optional<Error> error;
};

struct StepGranted {
    std::shared_ptr<const Job> job;
    std::shared_ptr<const Step> step;
};

struct StepNumbered {
    StepId step;
};

struct AllocationShown {
    std::shared_ptr<const Job> job;
};

struct ReservationNamed {
    std::string name;  // the one that was made, changed or deleted
};

struct Done {};

using Answer = std::variant<Error, Submitted, std::vector<JobResult>, StepGranted, StepNumbered,
                            AllocationShown, Done, std::vector<Explanation>, ReservationNamed>;

struct Reply {
    RequestId request;
    Answer answer;
};

// ---- orders to nodes. They are repeated when a node registers without knowing them.

struct LaunchBatch {
    NodeIndex node;
    std::shared_ptr<const Job> job;
};

// PrologFlags=Alloc. Answered by LaunchReported of the step "extern".
struct PrepareJob {
    NodeIndex node;
    std::shared_ptr<const Job> job;
    bool contain = false;  // and start that step
};

struct SignalJob {
    NodeIndex node;
    RunId run;
    int signal = 0;
    bool batch_shell = false;
    bool children = false;
    bool steps = false;
    bool only_step = false;   // run.step alone
    bool suspension = false;  // suspend (SIGSTOP) or resume (SIGCONT) of the whole job
    bool if_handled =
        false;  // only to processes of the script that handle it, as it would end the others
    std::string message = {};  // instead of a signal: for the standard error
    bool stack_dump = false;   // with a message: the stacks of its processes follow it
};

struct TerminateJob {
    NodeIndex node;
    RunId run;
    Seconds grace{30};        // between TERM and KILL
    std::string reason_line;  // for the job's output; may be empty
    bool only_step = false;
    // The whole job, if there is an epilog: the epilog runs also on nodes where nothing of the job
    // ran, and needs its data.
    std::shared_ptr<const Job> for_epilog = nullptr;
};

struct RebootNode {
    NodeIndex node;
    Time issued;  // identifies the order: a repeated one is carried out once
};

// HealthCheckProgram is to run there.
struct CheckHealth {
    NodeIndex node;
};

// Accepts the registration of a node, or says why not.
struct NodeAnswered {
    std::string node;
    std::optional<Error> error;
    std::vector<RunId> jobs = {};  // that have the node
};

// PrologSlurmctld, whose end is reported by JobProgramEnded, or EpilogSlurmctld. An epilog runs at
// most once: not again after a crash.
struct RunJobProgram {
    bool prolog = false;
    std::shared_ptr<const Job> job;  // as it was then
};

// A job whose nodes are switched on, for SLURM_RESUME_FILE.
struct ResumedFor {
    std::shared_ptr<const Job> job;
    std::vector<std::string> nodes;
};

// SuspendProgram, ResumeProgram or ResumeFailProgram with these nodes. That it runs is reported by
// PowerProgramStarted.
struct RunPowerProgram {
    PowerProgram program = PowerProgram::Suspend;
    std::vector<std::string> nodes;
    Seconds limit{0};  // how long it may run
    std::vector<ResumedFor> jobs = {};
};

// To the job's --mail-user, or its owner. Sent at most once: not repeated after a crash.
struct SendMail {
    MailType type = MailType::End;
    std::shared_ptr<const Job> job;  // as it was then
    std::string subject;
    std::optional<Seconds> length = {};     // how long it has waited (begin) or run
    std::optional<TaskEndings> tasks = {};  // of an array that has ended
};

// The program of a trigger, once: not again after a crash.
struct RunTrigger {
    Trigger trigger;
    std::string subject;  // its argument: nodes, a job, or a text for a service
};

using Effect =
    std::variant<Reply, LaunchBatch, PrepareJob, SignalJob, TerminateJob, NodeAnswered, RebootNode,
                 SendMail, RunJobProgram, CheckHealth, RunPowerProgram, RunTrigger>;
using Effects = std::vector<Effect>;

}  // namespace sluice
