// node/values.h
//
// What events and effects of a node are made of.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/usage.h"
#include "node/run_key.h"

namespace sluice {

// The time of an event by two clocks: one that is never set, and the wall clock, as credentials
// have it.
using Moment = std::chrono::nanoseconds;
struct NodeTime {
    Moment steady{0};
    Time wall{};
};

// Work on the data of a job on this node after its Prolog, before anything of the job runs.
enum class DataKind : std::uint8_t { StageIn, Restore };
struct DataTask {
    DataKind kind = DataKind::StageIn;
    std::string text = {};  // the option of the job, as its request has it
    bool operator==(const DataTask&) const = default;
};

// What Prolog and Epilog of a job are told.
struct HookJob {
    JobKey key;
    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::set<std::uint32_t> gpus = {};         // of its runs here, as the node numbers them
    std::set<std::string> gpu_variables = {};  // that name them
    std::vector<std::string> variables =
        {};                           // more variables of the controller: "SLURM_JOB_PARTITION=gpu"
    std::vector<DataTask> data = {};  // one after the other
    bool syncs = false;               // --sync: what it saves is synchronised at its end
};

// How a run has ended.
struct RunEnd {
    ExitStatus exit;
    std::optional<Error> launch_error = {};  // it was never started
    Usage usage = {};
    bool srun_lost = false;  // ended because of that
};

struct SignalOrder {
    int signal = 0;
    std::optional<StepId> step = {};  // none: all steps
    bool batch_shell = false;
    bool children = false;
    bool steps = false;
    bool if_handled = false;
    bool suspension = false;
    std::string message = {};  // instead of a signal: for the standard error
    bool stack_dump = false;   // the stacks of the processes follow it
};

// The parts of slurm.conf that decisions depend on.
struct NodeSettings {
    bool has_prolog = false;
    bool has_epilog = false;
    Seconds kill_wait{30};
    Seconds unkillable_step_timeout{60};
    Seconds group_update_time{600};  // how long what is known of a user is used
};

using UserKey = std::pair<std::uint32_t, std::uint32_t>;  // user and the job's group

}  // namespace sluice
