// controller/job_programs.h
//
// PrologSlurmctld and EpilogSlurmctld, on a thread of their own: names are looked up and programs
// may hang. A limited number runs at a time, one of each job, and none longer than
// PrologEpilogTimeout.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "controller/inbox.h"
#include "controller/published.h"

namespace sluice {

class JobPrograms {
public:
    JobPrograms(const PublishedState& published, Inbox& inbox);
    ~JobPrograms();  // programs that run continue; what becomes of them has no effect

    void take(RunJobProgram order);  // never waits

private:
    using Moment = std::chrono::steady_clock::time_point;
    struct Running {
        RunJobProgram order;
        std::string program;
        pid_t pid = 0;
        std::optional<Moment> deadline;
    };
    void run();
    void start_waiting();
    void start(RunJobProgram order);
    void look_at_running();
    bool is_running(JobId job) const;
    void report(const RunJobProgram& order, bool failed);

    const PublishedState& published_;
    Inbox& inbox_;
    Queue<RunJobProgram> queue_;
    std::deque<RunJobProgram> waiting_;
    std::vector<Running> running_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace sluice
