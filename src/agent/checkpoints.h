// agent/checkpoints.h
//
// --sync: the processes that copy checkpoints of jobs on this node. Each is sdata(1), run as the
// user, for one pair of directories: one that goes on while the job runs, one that restores before
// the script, one after the end. They end with slurmd, whose successor starts them again.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/site.h"
#include "agent/sync_order.h"
#include "os/event_loop.h"

namespace sluice {

class Checkpoints {
public:
    struct News {
        JobKey job;
        std::optional<Time> saved = {};  // the newest checkpoint that is saved was written then
        std::string problem = {};
    };
    using Tell = std::function<void(const News&)>;
    using Done = std::function<void(std::optional<Error>)>;

    Checkpoints(EventLoop& loop, Tell tell) : loop_(loop), tell_(std::move(tell)) {}

    bool knows(const JobKey& job) const { return jobs_.contains(job); }
    void add(wire::SyncOrder order);
    // For the next slurmd.
    Result<void> keep(const std::string& spool, const JobKey& job) const;
    bool recall(const std::string& spool, const JobKey& job);  // false: the job has no --sync

    void restore(const Site& site, const JobKey& job, Done done);
    void begin(const Site& site, const JobKey& job);  // nothing to do if it is begun
    void finish(const Site& site, const JobKey& job, std::function<void()> done);
    void stop(const JobKey& job);  // whatever of it runs; a `done` is called
    void forget(const JobKey& job);
    void on_exit(pid_t pid, int wait_status);

private:
    enum class Phase { Restore, Background, Final };
    struct Job {
        wire::SyncOrder order;
        bool is_begun = false;
        std::size_t left = 0;  // processes of a phase that has an end
        std::optional<Error> failure = {};
        Done done = {};
    };
    struct Process {
        JobKey job;
        Phase phase = Phase::Background;
        std::string local;
        Fd lines;  // what it reports
        std::string unread = {};
        std::string problem = {};
        EventLoop::TimerId timeout = 0;
    };

    void run_phase(const Site& site, const JobKey& job, Phase phase, Done done);
    Result<pid_t> start(const Site& site, const Job& job, const wire::SyncPair& pair, Phase phase);
    void read_lines(pid_t pid);
    void on_line(Process& process, std::string_view line);
    void complain(Process& process, std::string text);
    void end_phase(const JobKey& job);  // whatever is still there
    void kill_all(const JobKey& job);
    void one_is_over(const JobKey& job, std::optional<Error> failure);

    EventLoop& loop_;
    Tell tell_;
    std::map<JobKey, Job> jobs_;
    std::map<pid_t, Process> processes_;
};

}  // namespace sluice
