// sim/faults/machine.h
//
// A virtual node that behaves as slurmd does (src/agent): it repeats reports until they are
// acknowledged, ignores orders that it has carried out, and keeps on disk which runs have ended.
// Processes survive slurmd, the disk may survive the machine.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/event.h"

namespace sluice {

struct JobKey {
    std::uint32_t job = 0, restarts = 0;
    auto operator<=>(const JobKey&) const = default;
};

// The batch script of a run of a job, or one of its steps.
struct RunKey {
    JobKey job;
    StepId step = kBatchStep;
    auto operator<=>(const RunKey&) const = default;
};
inline RunKey key_of(const RunId& run) {
    return {{run.job.value, run.restarts}, run.step};
}
inline RunId run_of(const RunKey& key) {
    return {JobId{key.job.job}, key.job.restarts, key.step};
}
std::string to_string(const RunKey& run);

struct Report {
    std::uint64_t sequence = 0;  // 0: not repeated, not acknowledged
    Event event;
};

// How long a script or a step takes if nothing ends it before, and how it ends.
struct Script {
    Seconds duration{0};
    ExitStatus exit;
    bool cannot_start = false;
};

// What a machine needs of the world around it.
class MachineHost {
public:
    virtual ~MachineHost() = default;
    virtual Time now() const = 0;
    virtual void later(Seconds delay, std::function<void()> what) = 0;
    virtual void send(NodeIndex node, const Report& report) = 0;  // over the connection there is
    virtual Script script_of(const RunKey& run) = 0;
    virtual void on_started(NodeIndex node, const RunKey& run) = 0;
    virtual void on_finished(NodeIndex node, const RunKey& run, ExitStatus exit) = 0;
    virtual void on_swept_away(NodeIndex node, const RunKey& run) = 0;  // by a reboot
    virtual void reboot(NodeIndex node) = 0;
};

class Machine {
public:
    Machine(MachineHost& host, NodeIndex node) : host_(host), node_(node) {}

    NodeIndex node() const { return node_; }
    // Is slurmd there to talk to?
    bool is_up() const { return powered_ && slurmd_; }
    bool runs(const RunKey& run) const;
    bool is_stopped(const RunKey& run) const;  // by SIGSTOP
    bool runs_nothing() const { return running().empty(); }
    std::vector<RunKey> running() const;
    NodeFacts facts() const;

    // ---- orders
    void on_launch(const JobKey& job);
    bool launch_step(const RunKey& run);  // by srun itself; false: refused
    void on_terminate(const JobKey& job, Seconds kill_delay);
    void on_terminate_step(const RunKey& run, Seconds kill_delay);
    void kill_step(const RunKey& run);    // by srun itself
    void on_stop(const JobKey& job);      // SIGSTOP
    void on_continue(const JobKey& job);  // SIGCONT
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

private:
    struct Live {
        std::uint64_t start = 0;  // which one: a run may be started again after a reboot
        std::uint64_t plan = 0;   // which of its planned ends counts
        Time ends;
        std::optional<Seconds> left;  // stopped: what it still has to run
    };
    struct JobHere {
        std::map<StepId, Live> runs;
        bool ending = false;                  // the controller wants it gone
        std::optional<ExitStatus> batch_end;  // reported when nothing else is left
    };

    Live* find(const RunKey& run);
    void report(Event event);
    void start(const RunKey& run);
    void plan_end(const RunKey& run, Seconds left);
    void kill_later(const RunKey& run, Seconds delay);
    void end(const RunKey& run, std::uint64_t start, ExitStatus exit);
    void see_end(const RunKey& run, ExitStatus exit);
    void close_if_clean(const JobKey& job);

    MachineHost& host_;
    NodeIndex node_;
    bool powered_ = true, slurmd_ = true, registered_ = false;
    std::map<JobKey, JobHere> jobs_;
    std::map<RunKey, ExitStatus> ended_;  // on disk, until acknowledged
    std::set<RunKey> died_;               // on disk as running when the power went
    std::set<RunKey> never_start_;        // cancelled before they came
    std::set<JobKey> over_;               // nothing of them may come any more
    std::deque<Report> outbox_;
    std::optional<Time> reboot_order_;
    std::uint64_t next_sequence_ = 1;
    std::uint64_t counter_ = 0, boots_ = 1;
    Time booted_;
};

}  // namespace sluice
