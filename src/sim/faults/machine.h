// sim/faults/machine.h
//
// A virtual node: the decisions of slurmd (node/) with a virtual machine around them. Supervisors
// and what they run survive slurmd, the spool may survive the machine. slurmd can end between any
// two effects, and supervisors can be killed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/effect.h"
#include "core/event.h"
#include "node/apply.h"
#include "node/outbox.h"
#include "sim/faults/dice.h"

namespace sluice {

std::string to_string(const RunKey& run);
constexpr ExitStatus kBySigkill{.code = 0, .signal = 9};

struct Report {
    Event event;
    std::uint64_t number = 0;  // 0: not repeated, not acknowledged
    std::uint64_t sequence() const { return number; }
    void set_sequence(std::uint64_t sequence) { number = sequence; }
};

// How long a script or a step takes if nothing ends it before, and how it ends.
struct Script {
    Seconds duration{0};
    ExitStatus exit;
    bool cannot_start = false;
};

// What a script or a step has used on a node. Each of the first nodes has a hexadecimal digit of
// the CPU time for itself: a sum in which a digit is larger than 1 counts a node twice.
Usage used_on(NodeIndex node);
bool counts_nodes_once(const Usage& usage);

// What a machine needs of the world around it.
class MachineHost {
public:
    virtual ~MachineHost() = default;
    virtual Time now() const = 0;
    virtual bool is_calm() const = 0;
    virtual void later(Seconds delay, std::function<void()> what) = 0;
    virtual void send(NodeIndex node, const Report& report) = 0;  // over the connection there is
    virtual Script script_of(const RunKey& run) = 0;
    virtual void on_started(NodeIndex node, const RunKey& run) = 0;
    virtual void on_finished(NodeIndex node, const RunKey& run, ExitStatus exit) = 0;
    virtual void on_swept_away(NodeIndex node, const RunKey& run) = 0;  // by a reboot
    virtual void on_refused(NodeIndex node, const RunKey& step) = 0;    // its srun is told
    virtual bool slurmd_ends(NodeIndex node) = 0;  // between two effects: stops it if so
    virtual void reboot(NodeIndex node) = 0;
    virtual void happened(std::string_view what) = 0;  // for the log and the counts
    virtual void fail(std::string what) = 0;
};

class Machine {
public:
    Machine(MachineHost& host, NodeIndex node, Dice& dice, NodeSettings settings);

    NodeIndex node() const { return node_; }
    // Is slurmd there to talk to?
    bool is_up() const { return powered_ && slurmd_; }
    bool runs(const RunKey& run) const;               // it is here, and not over
    bool is_stopped(const RunKey& run) const;         // by SIGSTOP
    std::vector<RunKey> running() const;              // scripts and steps
    bool is_clean() const { return rest().empty(); }  // nothing is left of any job
    std::string rest() const;                         // what is left
    NodeFacts facts() const;

    // ---- orders
    void on_launch(const HookJob& job);
    bool launch_step(const RunKey& run, const HookJob& job, Time issued);  // false: refused
    void on_prepare(const PrepareOrdered& order) { handle(order); }
    void on_signal(const SignalJob& order);
    void on_terminate(const EndOrdered& order) { handle(order); }
    void kill_step(const RunKey& run);  // by srun itself
    void on_reboot(Time issued);
    void on_ack(std::uint64_t sequence);
    void on_welcome();                    // the registration was accepted: the outbox goes out
    std::vector<RunId> announce() const;  // for the registration: what is here
    void on_disconnected() { registered_ = false; }
    bool registered() const { return registered_; }

    // ---- faults
    void stop_slurmd();
    void start_slurmd();
    void power_off();
    void power_on(bool disk_is_kept);
    void kill_supervisor();  // of one of the runs

private:
    // A supervisor and the processes that it started.
    struct Process {
        std::uint64_t start = 0;  // which one: a run may be started again after a reboot
        std::uint64_t plan = 0;   // which of its planned ends counts
        bool is_started = false;
        bool has_supervisor = true;
        bool is_unkillable = false;
        Time ends{};
        std::optional<Seconds> left = {};  // stopped: what it still has to run
        std::optional<RunEnd> end = {};    // over: the supervisor waits until the end is known
    };
    struct Mark {
        HookJob job;
        std::optional<RunEnd> end = {};
    };

    // machine.cc: slurmd
    void handle(NodeEvent event);
    void wake_for_timer();
    void report(Event event);
    void perform(const SpawnStep& effect);
    void perform(const RefuseLaunch& effect);
    void perform(const RunProlog& effect);
    void perform(const RunDataTask& effect);
    void perform(const StopDataTask& effect);
    void perform(const RunFinalSync& effect);
    void perform(const RunEpilog& effect);
    void perform(const PassSignal& effect);
    void perform(const EndRun& effect);
    void perform(const ReleaseRun& effect);
    void perform(const KillLeftovers& effect);
    void perform(const GiveUpRun& effect);
    void perform(const RemoveDirectory& effect);
    void perform(const ReportLaunch& effect);
    void perform(const ReportJobEnd& effect);
    void perform(const ReportStepEnd& effect);
    void perform(const ReportCleaned& effect);
    void perform(const ReportKillFailed& effect);
    void run_hook(std::string_view what, double failing, std::function<void(bool)> done);

    // processes.cc: what runs
    Process* find(const RunKey& run);
    void start_script(const RunKey& run, bool asks);
    void plan_end(const RunKey& run, Seconds left);
    void end(const RunKey& run, std::uint64_t start, RunEnd how);
    void leave_mark(const RunKey& run, std::uint64_t start);
    void kill_processes(const RunKey& run);
    bool may(double probability) { return !host_.is_calm() && dice_.chance(probability); }

    MachineHost& host_;
    NodeIndex node_;
    Dice& dice_;
    NodeSettings settings_;
    bool powered_ = true, slurmd_ = true, registered_ = false;

    // Of slurmd, lost with it.
    NodeState state_;
    std::deque<NodeEvent> events_;
    bool is_deciding_ = false;
    Outbox<Report> outbox_;
    std::optional<Time> reboot_order_;
    std::uint64_t incarnation_ = 1;

    std::map<RunKey, Process> processes_;
    std::map<RunKey, Mark> marks_;  // in the spool
    std::uint64_t counter_ = 0, boots_ = 1;
    Time booted_;
};

}  // namespace sluice
