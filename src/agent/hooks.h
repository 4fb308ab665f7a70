// agent/hooks.h
//
// Prolog and Epilog: the administrator's programs around a job on this node, run as slurmd's own
// user, one process each, without waiting.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

#include "agent/run_key.h"
#include "agent/site.h"
#include "os/event_loop.h"

namespace sluice {

struct HookJob {
    JobKey key;
    uid_t user = 0;
    gid_t group = 0;
};

class Hooks {
public:
    explicit Hooks(EventLoop& loop) : loop_(loop) {}

    // Calls `done` with the exit status of the program: at once, with 0, when there is none.
    void run(const Site& site, bool prolog, const HookJob& job, std::function<void(int)> done);
    // RebootProgram, words after it being its arguments. What becomes of it is logged.
    void run_reboot(const Site& site);
    void on_exit(pid_t pid, int wait_status);

private:
    struct Running {
        std::function<void(int)> done;
        EventLoop::TimerId timeout = 0;
    };
    void start(std::vector<std::string> argv, std::vector<std::string> environment, Seconds limit,
               std::function<void(int)> done);

    EventLoop& loop_;
    std::map<pid_t, Running> running_;
};

}  // namespace sluice
