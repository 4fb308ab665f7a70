// controller/power_programs.h
//
// SuspendProgram, ResumeProgram and ResumeFailProgram, on a thread of their own. Each gets a list
// of nodes and may run for a limited time; whether it fails is only logged, as a node that did not
// boot is found by ResumeTimeout.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "controller/inbox.h"
#include "controller/published.h"
#include "os/fd.h"

namespace sluice {

class PowerPrograms {
public:
    PowerPrograms(const PublishedState& published, Inbox& inbox);
    ~PowerPrograms();  // programs that run continue

    void take(RunPowerProgram order);  // never waits

private:
    using Moment = std::chrono::steady_clock::time_point;
    struct Running {
        std::string what;  // for the log
        pid_t pid = 0;
        std::optional<Moment> deadline;
        Fd resume_file;
    };
    void run();
    void start(const RunPowerProgram& order);
    void look_at_running();

    const PublishedState& published_;
    Inbox& inbox_;
    Queue<RunPowerProgram> queue_;
    std::vector<Running> running_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

// The content of $SLURM_RESUME_FILE.
std::string resume_json(const RunPowerProgram& order);

}  // namespace sluice
