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

struct RunKey {
    std::uint32_t job = 0, restarts = 0;
    auto operator<=>(const RunKey&) const = default;
};
inline RunKey key_of(const RunId& run) {
    return {run.job.value, run.restarts};
}
inline RunId run_of(RunKey key) {
    return {JobId{key.job}, key.restarts, kBatchStep};
}

struct Report {
    std::uint64_t sequence = 0;  // 0: not repeated, not acknowledged
    Event event;
};

// How long a job's script takes when nobody disturbs it, and how it ends.
struct Script {
    Seconds duration{0};
    ExitStatus exit;
};

// What a machine needs of the world around it.
class MachineHost {
public:
    virtual ~MachineHost() = default;
    virtual Time now() const = 0;
    virtual void later(Seconds delay, std::function<void()> what) = 0;
    virtual void send(NodeIndex node, const Report& report) = 0;  // over the connection there is
    virtual Script script_of(JobId job) = 0;
    virtual void on_started(NodeIndex node, RunKey run) = 0;
    virtual void on_finished(NodeIndex node, RunKey run, ExitStatus exit) = 0;
    virtual void on_swept_away(NodeIndex node, RunKey run) = 0;  // by a reboot
};

class Machine {
public:
    Machine(MachineHost& host, NodeIndex node) : host_(host), node_(node) {}

    NodeIndex node() const { return node_; }
    // Is slurmd there to talk to?
    bool is_up() const { return powered_ && slurmd_; }
    bool runs(RunKey run) const { return live_.contains(run); }
    bool runs_nothing() const { return live_.empty(); }
    std::vector<RunKey> running() const;

    // ---- orders
    void on_launch(RunKey run);
    void on_terminate(RunKey run, Seconds kill_delay);
    void on_stop(RunKey run);      // SIGSTOP
    void on_continue(RunKey run);  // SIGCONT
    void on_ack(std::uint64_t sequence);
    void on_welcome();                 // the registration was accepted: the outbox goes out
    std::vector<RunId> known() const;  // for the registration
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

    void report(Event event);
    void plan_end(RunKey run, Seconds left);
    void end(RunKey run, std::uint64_t start, ExitStatus exit);
    void report_end(RunKey run, ExitStatus exit);

    MachineHost& host_;
    NodeIndex node_;
    bool powered_ = true, slurmd_ = true, registered_ = false;
    std::map<RunKey, Live> live_;
    std::map<RunKey, ExitStatus> ended_;  // on disk, until acknowledged
    std::set<RunKey> died_;               // on disk as running when the power went
    std::deque<Report> outbox_;
    std::uint64_t next_sequence_ = 1;
    std::uint64_t counter_ = 0;
};

}  // namespace sluice
