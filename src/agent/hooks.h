// agent/hooks.h
//
// Prolog and Epilog: the administrator's programs around a job on this node, run as slurmd's own
// user, one process each, without waiting.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/run_key.h"
#include "agent/site.h"
#include "node/values.h"
#include "order.pb.h"
#include "os/event_loop.h"
#include "os/private_directories.h"

namespace sluice {

// What the programs are told of a run's job. `facts` are the controller's, not what srun says of
// its job: the programs are the administrator's, and that is the user's word.
HookJob hook_job(const wire::StepOrder& order, const wire::JobAllocation& facts);

// What was learned, for a slurmd that is started again before the epilog runs.
std::string print_learned(const HookJob& job);
void recall(HookJob& job, std::string_view printed);

bool has_prolog(const Site& site);
bool has_epilog(const Site& site);

// One of the programs around a job.
struct HookProgram {
    std::string path;
    bool in_job = false;  // sees what the steps of the job see:
    std::vector<PrivateDirectory> directories = {};
    bool shared_mounts = false;
};

class Hooks {
public:
    explicit Hooks(EventLoop& loop) : loop_(loop) {}

    // Calls `done` with the exit status of the program: at once, with 0, when there is none.
    void run(const Site& site, bool prolog, const HookJob& job, std::function<void(int)> done);
    // UnkillableStepProgram. What becomes of it is logged.
    void run_unkillable(const Site& site, const RunKey& key);
    // RebootProgram, words after it being its arguments. What becomes of it is logged.
    void run_reboot(const Site& site);
    // HealthCheckProgram, unless it still runs. What becomes of it is logged.
    void run_health_check(const Site& site, std::function<void()> done);
    void on_exit(pid_t pid, int wait_status);

private:
    struct Running {
        std::function<void(int)> done;
        EventLoop::TimerId timeout = 0;
    };
    struct HookStart {
        std::vector<std::string> argv, environment;
    };
    void run_all(std::vector<HookStart> programs, Seconds limit, std::function<void(int)> done);
    void start(std::vector<std::string> argv, std::vector<std::string> environment, Seconds limit,
               std::function<void(int)> done);

    // PrologFlags=Serial: one job's Prolog or Epilog at a time.
    void run_in_turn(std::function<void()> start);
    void on_turn_ended();

    EventLoop& loop_;
    std::map<pid_t, Running> running_;
    std::deque<std::function<void()>> waiting_;  // for their turn
    bool is_taken_ = false;                      // the turn
    bool is_checking_health_ = false;
};

}  // namespace sluice
