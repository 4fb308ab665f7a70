// controller/trigger_programs.h
//
// Programs of triggers (strigger), as their users, on a thread of their own: names are looked up
// and programs may hang. A program runs for at most five minutes, as Slurm documents it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/queue.h"
#include "controller/published.h"
#include "core/effect.h"

namespace sluice {

class TriggerPrograms {
public:
    explicit TriggerPrograms(const PublishedState& published);
    ~TriggerPrograms();  // programs that run continue

    void take(RunTrigger order);  // never waits

private:
    using Moment = std::chrono::steady_clock::time_point;
    struct Running {
        std::uint32_t trigger = 0;
        std::string program;
        pid_t pid = 0;
        Moment deadline;
    };
    void run();
    void start(const RunTrigger& order);
    void look_at_running();

    const PublishedState& published_;
    Queue<RunTrigger> queue_;
    std::vector<Running> running_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

// What the program is called with: its words, then what the trigger is about.
std::vector<std::string> trigger_arguments(const RunTrigger& order);

}  // namespace sluice
