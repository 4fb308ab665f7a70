// sim/faults/fault_world.h
//
// A cluster in which everything goes wrong at times: the controller crashes at any point and comes
// back with what it had committed, or is stopped and overtaken by a second one, connections break
// and lose what was on its way, nodes restart, vanish and return, clocks jump. Users go on to
// submit and repeat what was not answered, sruns make steps, administrators change everything. Then
// the faults stop, and all must settle. All of it follows from the seed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/key_values.h"
#include "sim/agenda.h"
#include "sim/faults/machine.h"
#include "sim/faults/rows.h"
#include "sim/faults/rules.h"
#include "sim/faults/stranger.h"
#include "turn/decider.h"

namespace sluice {

constexpr double kLostMessage = 0.05;  // how often what a user is told gets lost

struct FaultOptions {
    std::uint64_t seed = 1;
    std::uint32_t nodes = 32;
    std::uint32_t jobs = 500;
    std::uint32_t controllers = 1;  // 2: one is in standby
    bool with_preemption = true;    // and with jobs that share CPUs
    bool by_qos = false;            // preemption, instead of by partition
    bool wide = true;  // with steps, interactive jobs, reservations, dependencies, all of scontrol
    std::shared_ptr<const FaultTrace> trace =
        {};  // replayed, instead of rolls that follow from the seed
    std::function<void(const std::string&)> on_event;  // --events: prints each event
};

struct FaultResult {
    std::optional<std::string> failure;
    std::uint64_t hash = 0;  // of all that happened, in order
    std::size_t events = 0, faults = 0, crashes = 0, accepted = 0, ended = 0, steps = 0;
    std::size_t strangers_refused = 0;  // requests about the jobs of others
    std::map<std::string, std::size_t>
        answers;  // of users and administrators: how many of each kind
    std::map<std::string, std::size_t, std::less<>> happened;  // on the machines, of each kind
    FaultTrace trace;                                          // how to replay it
};

// The rolls of a world that failed, as a file (faults.cc), and the world of such a file.
Result<void> write_fault_trace(const std::string& path, const FaultResult& result);
Result<FaultOptions> read_fault_trace(const std::string& path);

class FaultWorld : private MachineHost {
public:
    explicit FaultWorld(FaultOptions options);
    FaultResult run();

private:
    // A connection between a node and the controller. What is on it when it breaks is lost.
    struct Wire {
        std::size_t node = 0;
        bool broken = false;
        bool welcome = false;     // the controller has answered the registration
        Time last_up, last_down;  // what was sent later does not arrive earlier
        Time held_until;          // nothing comes through before
        std::set<RunKey> told;    // what the node has said to run
    };
    using WirePtr = std::shared_ptr<Wire>;
    struct Incoming {
        Event event;
        WirePtr wire;  // to acknowledge on, if there is a sequence
        std::uint64_t sequence = 0;
    };
    struct Decided {
        Decisions decisions = {};
        std::vector<Incoming> acks = {};  // their events are empty
        Seconds step{0};                  // of the clock, which it made good
    };
    struct Client {
        std::shared_ptr<const JobRequest> request;
        bool answered = false;
        std::optional<JobId> job;  // accepted
        UserId user;
        bool asked = false;         // so that a repetition says the same
        RequestId waits;            // for its allocation
        bool gone = false;          // of an interactive job: it has ended, or its host was lost
        std::optional<JobKey> has;  // the allocation, while it has one
        std::uint32_t tries = 0;    // it hears the answer to the last one only
    };
    // A request, and the client that waits for the answer.
    struct Question {
        std::string what;
        std::uint64_t incarnation = 0;
        std::function<void(const Answer&)> on_answer;
        bool lost = false;  // the connection broke: there will be no answer
    };
    // An srun process: in the batch script, beside its allocation, or from elsewhere (--jobid).
    struct Srun {
        enum class Home : std::uint8_t { Script, Client, Elsewhere };
        JobKey job;
        Home home = Home::Script;
        std::size_t place = 0;  // the head node, or the client
        RequestId request;      // while it asks for its step
        Time issued = {};       // of its credential
        std::string key;        // the same when it asks again
        StepDemand demand;
        bool gone = false;
        std::optional<RunKey> step;
        std::vector<std::size_t> nodes;
    };
    using SrunPtr = std::shared_ptr<Srun>;
    // A controller that was stopped for so long that the other one has taken the lease.
    struct Overtaken {
        std::unique_ptr<Decider> decider;
        std::deque<Decided> writing;
        LoopClock clock;
        Epoch epoch = 0;
        Time renewed;
    };
    struct RunStart {
        Time time;             // in truth, not by the controller's clock
        Seconds steps_unseen;  // as they were then
    };
    struct Execution {
        NodeIndex node;
        bool swept_away = false;
    };

    // fault_world.cc: time, dice, failures
    Dice& dice(std::string_view stream);
    Dice& network_of(std::size_t node);
    HookJob hook_job(const JobKey& job) const;
    void log(std::string what);
    void note_trace();

    // fault_end.cc: has all settled, and is it as it should be?
    bool is_settled();
    void check_the_end();
    void check_job(const Job& job);
    void check_machines();
    bool is_news(const Machine& machine, const RunKey& run);
    void note_heard(const Event& event);
    void check_steps();

    // fault_users.cc: submissions, interactive jobs
    void plan_users();
    Dice& dice_of(std::size_t client);
    RequestId ask(std::string what, std::function<Event(RequestId)> event,
                  std::function<void(const Answer&)> on_answer, double lost = 0);
    void hang_up_on(RequestId request);  // the asker has gone
    bool is_heard(RequestId request);    // an answer may still come
    void submit(std::size_t client);
    void on_answer(std::size_t client, const Answer& answer);
    void await_allocation(std::size_t client);
    void on_allocation(std::size_t client, const Job& job);
    void give_back(std::size_t client);
    void lose_client(std::size_t client);

    // fault_steps.cc: sruns
    Dice& dice_of_sruns(const JobKey& job);
    void plan_sruns(const JobKey& job, Srun::Home home, std::size_t place, Seconds span);
    bool lives(const Srun& srun) const;
    void create_step(const SrunPtr& srun);
    void on_step_answer(const SrunPtr& srun, const Answer& answer);
    void launch(const SrunPtr& srun);
    void give_up(const SrunPtr& srun);
    void cancel_step(RunKey step);

    // fault_commands.cc: what users and administrators do to jobs
    void command();
    void control_somebody(const JobRef& ref);
    void update_somebody(const JobRef& ref);
    void look_after_jobs();
    std::optional<JobRef> random_job();

    // fault_admin.cc: nodes, partitions, reservations, slurm.conf
    void administrate();
    void change_reservation();
    void add_qos();
    void change_qos();
    void set_qos(std::string_view name, const KeyTexts& keys);
    void publish_policy();
    void change_accounts(bool with_limits);
    void lift_limits();
    void change_node();
    void change_partition();
    void reconfigure(std::shared_ptr<const Settings> settings);
    void look_after_cluster();

    // fault_plan.cc: what goes wrong
    void plan_faults();
    void crash(Dice& dice);
    void lose_controller();
    void maybe_crash(double probability, std::string_view when);
    void restart_slurmd(Dice& dice, std::size_t node);
    void cut_power(Dice& dice, std::size_t node);
    void isolate(Dice& dice, std::size_t node);
    void freeze(Dice& dice, std::size_t node);
    void step_clock(Dice& dice);
    void set_clock(Seconds offset);
    void restart_machine(Dice& dice, std::size_t node, bool disk_is_kept, Seconds most);

    // fault_controller.cc: the shell around the core
    Time controller_now() const { return now_ + clock_offset_; }
    void stall(Dice& dice);
    void in_turn(Seconds delay, std::function<void()> what);
    void check_lost_nodes(const std::vector<bool>& were_down);
    void check_time_limits(const Decided& decided);
    void start_controller();
    void push(Incoming incoming);
    void decide();
    void tick(std::size_t decided);
    void run_pass(Time time);
    void wake_for_timers();
    void check_invariants(std::string_view after);
    void commit();
    void release(Decided decided);
    void carry_out(const NodeOrder& order);
    void welcome(std::size_t node, const NodeWelcome& answer);
    void answer(const Reply& reply);
    std::size_t machine_named(const std::string& name) const;
    std::size_t machine_of(NodeIndex node) const;  // the cluster counts its nodes in its own way
    bool address(Event& event) const;  // the node in it becomes the cluster's; false: it knows none

    // fault_takeover.cc: the lease, and a second controller
    bool may_act(Time renewed) const;
    void step_down();
    void watch_lease();
    void take_over();
    void wake(const std::shared_ptr<Overtaken>& old);
    bool has_database(std::size_t controller) const { return now_ >= database_from_[controller]; }
    void lose_database(Dice& dice);
    void cut_from_database(Dice& dice);
    void cut_from_nodes(Dice& dice);

    // fault_power.cc: SuspendProgram and ResumeProgram
    PowerSettings power_settings();
    void command_power();
    void run_power_program(const RunPowerProgram& order);
    void switch_off(std::size_t node);
    void switch_on(std::size_t node);

    // fault_network.cc: connections between controller, nodes and clients
    Seconds delay(Dice& dice) const;
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
    Script script_of(const RunKey& run) override;
    void on_started(NodeIndex node, const RunKey& run) override;
    void on_finished(NodeIndex node, const RunKey& run, ExitStatus exit) override;
    void on_swept_away(NodeIndex node, const RunKey& run) override;
    void on_refused(NodeIndex node, const RunKey& step) override;
    bool slurmd_ends(NodeIndex node) override;
    void reboot(NodeIndex node) override;
    bool is_calm() const override { return calm_; }
    void happened(std::string_view what) override;
    void fail(std::string what) override;
    bool given_up(const Machine& machine, const RunKey& run) const;

    FaultOptions options_;
    std::map<std::string, Dice, std::less<>> dice_;
    std::shared_ptr<const Settings> settings_, first_settings_;
    std::set<std::string> unknown_nodes_;  // a controller started while slurm.conf lacked them
    FaultResult result_;
    Agenda<std::function<void()>> agenda_;
    Time now_, calm_from_;
    bool calm_ = false;

    std::vector<Client> clients_;
    std::map<std::uint64_t, Question> asked_;  // by request, while it may be answered
    std::uint64_t next_request_ = 1;
    std::uint64_t next_srun_ = 1;
    std::vector<JobKey> busy_;           // jobs with steps, from which one to cancel is chosen
    std::map<RunKey, Time> lost_steps_;  // running as far as the controller knows: since when not

    Rows rows_;                         // the disk: all that survives a crash
    std::unique_ptr<Decider> decider_;  // null while the controller is down
    Cluster* cluster_ = nullptr;        // that of the decider
    Policy policy_;                     // as the accounting database has it
    std::uint64_t incarnation_ = 0;
    std::vector<Time> down_until_;     // of each controller
    std::vector<Time> database_from_;  // when the database answers it again
    std::size_t active_ = 0;           // which of them is, or was last
    Epoch epoch_ = 0;                  // of its tenure
    Time renewed_;                     // its lease
    std::vector<Incoming> inbox_;
    bool decision_planned_ = false;
    std::deque<Decided> writing_;
    Seconds clock_offset_{0};
    Seconds steps_unseen_{0};     // clock steps while the controller was down, or not written
    Seconds seen_offset_{0};      // of the clock, when the controller last looked
    bool clocks_differ_ = false;  // the second controller's is ahead
    LoopClock clock_;
    Time stalled_until_;
    Time answer_time_;  // when the controller has given the answer that a client hears now
    std::int64_t commit_most_ = 1;  // seconds
    double crash_chance_ = 0;       // at each step between decision and effects
    double slurmd_end_chance_ = 0;  // between two effects

    std::vector<std::unique_ptr<Machine>> machines_;
    std::vector<WirePtr> node_ends_, controller_ends_;  // by node; null: not connected
    std::vector<Time> reachable_from_;
    std::vector<std::uint32_t> boots_;  // by node: a slurmd is started by the last one only

    Rules rules_;
    Stranger stranger_;
    std::map<RunKey, Execution> executions_;  // the last of each script
    std::map<JobKey, RunStart> starts_;       // when the controller let them start
    std::vector<Time> said_;                  // by node: when it last said something that arrived
    std::map<RunKey, ExitStatus> finished_;
    std::set<std::pair<std::size_t, RunKey>>
        heard_;  // by the controller, from the node: it runs there
};

}  // namespace sluice
