// sim/faults/fault_world.h
//
// A cluster in which everything goes wrong at times: the controller crashes at any point and comes
// back with what it had committed, connections break and lose what was on its way, nodes restart,
// vanish and return, clocks jump. Users go on to submit and repeat what was not answered. Then the
// faults stop, and all must settle. All of it follows from the seed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "sim/agenda.h"
#include "sim/faults/machine.h"
#include "sim/faults/rows.h"
#include "sim/random.h"

namespace sluice {

struct FaultOptions {
    std::uint64_t seed = 1;
    std::uint32_t nodes = 32;
    std::uint32_t jobs = 500;
    bool with_preemption = true;  // and with jobs that share CPUs
    std::function<void(const std::string&)> on_event;  // for whoever wants to see all of it
};

struct FaultResult {
    std::optional<std::string> failure;
    std::uint64_t hash = 0;  // of all that happened, in order
    std::size_t events = 0, faults = 0, crashes = 0, accepted = 0, ended = 0;
};

class FaultWorld : private MachineHost {
public:
    explicit FaultWorld(FaultOptions options);
    FaultResult run();

private:
    // A connection between a node and the controller. What is on it when it breaks is lost.
    struct Wire {
        bool broken = false;
        bool welcome = false;     // the controller has answered the registration
        Time last_up, last_down;  // what was sent later does not arrive earlier
        Time held_until;          // nothing comes through before
    };
    using WirePtr = std::shared_ptr<Wire>;
    struct Incoming {
        Event event;
        WirePtr wire;  // to acknowledge on, if there is a sequence
        std::uint64_t sequence = 0;
    };
    struct Decided {
        ChangedRecords changes;
        Effects effects;
        std::vector<Incoming> acks;  // their events are empty
    };
    struct Client {
        std::shared_ptr<const JobRequest> request;
        bool answered = false;
        std::optional<JobId> job;  // accepted
    };
    struct Execution {
        NodeIndex node;
        bool swept_away = false;
    };

    // fault_world.cc: users, checks, the end
    void plan_users();
    void submit(std::size_t client);
    void on_answer(std::size_t client, const Answer& answer);
    void command();
    void look_after_held_jobs();
    bool is_settled();
    void check_the_end();
    void check_job(const Job& job);
    void fail(std::string what);
    void log(std::string what);

    // fault_plan.cc: what goes wrong
    void plan_faults();
    void crash();
    void maybe_crash(double probability);
    void restart_slurmd(std::size_t node);
    void cut_power(std::size_t node);
    void isolate(std::size_t node);
    void freeze(std::size_t node);
    void step_clock();

    // fault_controller.cc: the shell around the core
    Time controller_now();
    void start_controller();
    void push(Incoming incoming);
    void decide();
    void wake_for_timers();
    void check_invariants(std::string_view after);
    void commit();
    void release(Decided decided);
    void carry_out(const Effect& effect);

    // fault_network.cc: who hears whom
    Seconds delay();
    void connect(std::size_t node);
    void hang_up(std::size_t node);
    void cut(std::size_t node, bool controller_notices);
    void lose_wire(std::size_t node, WirePtr wire, bool controller_notices);
    void up(WirePtr wire, std::function<void()> arrive);
    void down(std::size_t node, std::function<void()> arrive);
    void heartbeat(std::size_t node);

    // MachineHost
    Time now() const override { return now_; }
    void later(Seconds delay, std::function<void()> what) override;
    void send(NodeIndex node, const Report& report) override;
    Script script_of(JobId job) override;
    void on_started(NodeIndex node, RunKey run) override;
    void on_finished(NodeIndex node, RunKey run, ExitStatus exit) override;
    void on_swept_away(NodeIndex node, RunKey run) override;

    FaultOptions options_;
    Random random_;
    std::shared_ptr<const Settings> settings_;
    FaultResult result_;
    Agenda<std::function<void()>> agenda_;
    Time now_, calm_from_;
    bool calm_ = false;

    std::vector<Client> clients_;
    std::map<std::uint64_t, std::size_t> asked_;  // by request: the client
    std::uint64_t next_request_ = 1;

    Rows rows_;                         // the disk: all that survives a crash
    std::unique_ptr<Cluster> cluster_;  // null while the controller is down
    std::uint64_t incarnation_ = 0;
    std::vector<Incoming> inbox_;
    bool decision_planned_ = false;
    std::deque<Decided> writing_;
    Seconds clock_offset_{0};
    Time last_time_;
    std::int64_t commit_most_ = 1;  // seconds
    double crash_chance_ = 0;       // at each step between decision and effects

    std::vector<std::unique_ptr<Machine>> machines_;
    std::vector<WirePtr> node_ends_, controller_ends_;  // by node; null: not connected
    std::vector<Time> reachable_from_;

    std::map<RunKey, Execution> executions_;  // the last of each run
    std::map<RunKey, ExitStatus> finished_;
};

}  // namespace sluice
