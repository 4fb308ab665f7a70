// agent/hooks.h
//
// Prolog and Epilog: the administrator's programs around a job on this node, run as slurmd's own
// user, one process each, without waiting.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/run_key.h"
#include "agent/site.h"
#include "order.pb.h"
#include "os/event_loop.h"

namespace sluice {

struct HookJob {
    JobKey key;
    uid_t user = 0;
    gid_t group = 0;
    std::set<std::uint32_t> gpus = {};  // of its runs here, as the node numbers them
    std::vector<std::string> variables =
        {};  // more variables of the controller: "SLURM_JOB_PARTITION=gpu"
};

// Another run of the job comes here. `facts` are the controller's, not what srun says of its job:
// the programs are the administrator's, and that is the user's word.
void learn(HookJob& job, const wire::StepOrder& order, const wire::JobAllocation& facts);

// What was learned, for a slurmd that is started again before the epilog runs.
std::string print_learned(const HookJob& job);
void recall(HookJob& job, std::string_view printed);

class Hooks {
public:
    explicit Hooks(EventLoop& loop) : loop_(loop) {}

    // Calls `done` with the exit status of the program: at once, with 0, when there is none.
    void run(const Site& site, bool prolog, const HookJob& job, std::function<void(int)> done);
    // UnkillableStepProgram. What becomes of it is logged.
    void run_unkillable(const Site& site, const RunKey& key);
    // RebootProgram, words after it being its arguments. What becomes of it is logged.
    void run_reboot(const Site& site);
    void on_exit(pid_t pid, int wait_status);

private:
    struct Running {
        std::function<void(int)> done;
        EventLoop::TimerId timeout = 0;
    };
    // `add_variables` runs in the program's process: the directory service may take long to answer.
    using AddVariables = std::function<void(std::vector<std::string>& environment)>;
    void start(std::vector<std::string> argv, std::vector<std::string> environment, Seconds limit,
               std::function<void(int)> done, AddVariables add_variables = {});

    EventLoop& loop_;
    std::map<pid_t, Running> running_;
};

}  // namespace sluice
