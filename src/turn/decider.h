// turn/decider.h
//
// A turn of the controller: what has arrived is applied to the cluster, timers that are due fire, a
// scheduling pass runs. Then the decisions are taken out, to be stored and carried out by the
// shell. slurmctld and the simulator run this code; time and events come from them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/loop_clock.h"
#include "core/cluster.h"
#include "core/tally.h"
#include "turn/tick_gate.h"

namespace sluice {

// An order with the node's name: indexes are valid only inside the core.
struct NodeWelcome {
    NodeIndex index;
    std::optional<Error> error;
    std::vector<RunId> jobs = {};
};
struct NodeOrder {
    std::string node;
    std::variant<NodeWelcome, LaunchBatch, PrepareJob, SignalJob, TerminateJob, RebootNode,
                 CheckHealth>
        order;
};

// All that a turn has decided. Nothing of it may happen before the changes are stored.
struct Decisions {
    ChangedRecords changes;
    std::shared_ptr<const NodeNames> node_names;  // by the indexes in the changes
    std::vector<Reply> replies;
    std::vector<NodeOrder> orders;  // welcomes first
    std::vector<SendMail> mails;
    std::vector<RunJobProgram> programs;
    std::vector<RunPowerProgram> power_programs;
    std::vector<RunTrigger> triggers;
};

class Decider {
public:
    explicit Decider(std::unique_ptr<Cluster> cluster);

    Cluster& cluster() { return *cluster_; }
    const Cluster& cluster() const { return *cluster_; }
    Time time() const { return now_; }      // of the current turn
    std::optional<Time> next_tick() const;  // when a timer may fire

    // A turn consists of these, in this order.
    void begin(const LoopClock::Turn& turn);
    // The answer to the request, if the event has been answered; valid until the next call.
    const Answer* decide(const Event& event, RequestId request = {});
    const Answer* refuse(RequestId request, Error error);  // instead of decide()
    // After `decided` events, while `waiting` more have arrived. Says whether timers have fired.
    bool tick(std::size_t decided, std::size_t waiting);
    PassReport pass();
    Decisions finish();

private:
    void pack(Effect& effect, Decisions& decisions) const;

    std::unique_ptr<Cluster> cluster_;
    std::shared_ptr<const NodeNames> node_names_;
    Effects effects_;
    Time now_{};
    Time timers_from_{};  // no timer fires earlier
    TickGate tick_gate_;
};

}  // namespace sluice
