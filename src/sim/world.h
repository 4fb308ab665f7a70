// sim/world.h
//
// A cluster without machines: the real core, a virtual clock, and nodes that run each job for as
// long as the trace says. Nothing fails here (see faults/ for that), so nodes send no heartbeats,
// and answer orders at once. The same trace and settings give the same outcome.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/cluster.h"
#include "sim/agenda.h"
#include "sim/traces/trace.h"

namespace sluice {

// What became of a job of the trace.
struct JobOutcome {
    std::optional<Time> start;  // of the last run
    std::optional<Time> end;
    JobState state = JobState::Pending;
    std::uint32_t cpus = 0, gpus = 0, nodes = 0;  // held by the last run
    std::uint32_t preemptions = 0;
    std::int64_t cpu_seconds_lost = 0;  // of runs that were cut short to run again
    std::string refusal;                // not empty: it was not accepted
};

// How full the cluster was from `time` on.
struct Sample {
    Time time;
    std::uint64_t cpus = 0, gpus = 0, waiting = 0;
};

struct Outcome {
    std::vector<JobOutcome> jobs;      // in the order of the trace
    std::vector<Sample> samples;       // by time
    std::uint64_t cpus = 0, gpus = 0;  // of the whole cluster
    std::size_t moved = 0;  // jobs whose partition does not exist: they went to the default
};

// Every node of `settings` is there and sound, and nothing but places limits the queue.
Settings for_simulation(Settings settings);
// N equal nodes in one partition, when there is no slurm.conf.
Settings plain_settings(std::uint32_t nodes, std::uint32_t cpus, std::uint32_t gpus);

// Names, and what sacctmgr would be told of them.
// What `sacctmgr -P show qos` prints.
Result<QosDefinitions> parse_qos_table(const std::string& path, std::string_view text);

class World {
public:
    using Progress = std::function<void(std::size_t ended, std::size_t all)>;

    World(Settings settings, const Trace& trace, Progress progress = {});

    // Before run(): QOS beside `normal` and those that the trace names.
    Result<void> set_qos(const QosDefinitions& table);
    // After set_qos(): accounts, users, shares and limits, the text of a file of sacctmgr dump. QOS
    // that only the file names have no limits.
    Result<void> load_policy(std::string_view dump);

    // Until every job has ended, or nothing can happen any more.
    Outcome run();

private:
    struct Run {
        std::uint32_t restarts = 0;
        Time start;
        std::uint64_t cpus = 0, gpus = 0;
        Time end;  // when it will be over, unless it is
        bool stopped = false;
        Seconds left{0};  // to run when it is continued
        NodeIndex node;   // its first
    };
    struct RunEnd {
        RunId run;
        Time end;  // another one than the run's: it was stopped meanwhile
    };

    void take_policy(Policy policy);
    UserId user_of(const std::string& name);
    std::optional<Time> next_time() const;
    void step(Time now);
    void submit(Time now, std::size_t index);
    void settle(Time now);
    void on_launch(Time now, const LaunchBatch& order);
    void on_terminate(Time now, const TerminateJob& order);
    void on_signal(Time now, const SignalJob& order);
    void plan_end(RunId run_id, Run& run, Time end);
    void leave(const Run& run);
    void record_ends();

    const Trace& trace_;
    Progress progress_;
    Cluster cluster_;
    Outcome outcome_;
    Effects effects_;
    Agenda<RunEnd> ends_;
    std::unordered_map<std::uint32_t, std::size_t> index_of_;  // by job id: its place in the trace
    std::unordered_map<std::uint32_t, Run> running_;           // by job id
    std::vector<JobId> touched_;                               // may have ended in this step
    std::unordered_map<std::string, UserId> users_;
    std::size_t next_submit_ = 0;
    std::size_t ended_ = 0;  // or refused
    std::uint64_t cpus_busy_ = 0, gpus_busy_ = 0, waiting_ = 0;
};

}  // namespace sluice
