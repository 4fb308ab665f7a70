// sim/faults/fault_takeover.cc
//
// Two controllers of one state. The active one renews its lease while it is not stopped and the
// database answers it, and acts only as long as lease.h allows. The other one takes the lease when
// it has seen no renewal for the length of the lease, and starts from the rows with the next epoch.
// A controller that was only stopped continues later with all that it had in memory: nothing of it
// may be written, and it may not act.
#include <fmt/format.h>

#include <algorithm>

#include "sim/faults/fault_world.h"
#include "store/lease.h"

namespace sluice {
namespace {

constexpr Seconds kPoll{1};
constexpr Seconds kClocksApart{3600};
constexpr std::int64_t kOutageMost = 300;  // seconds

}  // namespace

// With one controller there is no lease to lose.
bool FaultWorld::may_act(Time renewed) const {
    return options_.controllers == 1 || now_ < renewed + (kLeaseLength - kLeaseMargin);
}

// It was stopped for longer than its lease: it starts again, as a standby or the active one.
void FaultWorld::step_down() {
    happened("stepped down");
    crash(dice("controller"));
}

void FaultWorld::watch_lease() {
    if (cluster_ && now_ >= stalled_until_ && may_act(renewed_)) {
        if (has_database(active_)) renewed_ = now_;
    } else if (!cluster_ && now_ >= down_until_[active_] && has_database(active_)) {
        start_controller();
    } else {
        take_over();
    }
    later(kPoll, [this] { watch_lease(); });
}

void FaultWorld::take_over() {
    const std::size_t other = 1 - active_;
    // A standby that has just started, or to which the database answers again, has seen no renewal
    // since then.
    const Time since = std::max({renewed_, down_until_[other], database_from_[other]});
    if (now_ < since + kLeaseLength) return;
    if (cluster_) {
        if (may_act(renewed_)) fail("two controllers may act");
        happened("taken over");
        log("the other controller takes over");
        auto old = std::make_shared<Overtaken>(
            Overtaken{std::move(decider_), std::move(writing_), clock_, epoch_, renewed_});
        const Time woken = std::max(now_, stalled_until_);
        down_until_[active_] = woken + kPoll;
        later(woken - now_, [this, old] { wake(old); });
        lose_controller();
    }
    active_ = other;
    start_controller();
    if (!clocks_differ_ || calm_) return;
    // It starts by the clock of the other one, and then sees its own as a step.
    happened("clocks an hour apart");
    set_clock(active_ == 0 ? Seconds{0} : kClocksApart);
}

// For all: nothing is written, and after the length of a lease no controller is active.
void FaultWorld::lose_database(Dice& dice) {
    const Seconds length{dice.between(1, kOutageMost)};
    happened("database lost");
    log(fmt::format("the database does not answer for {} s", length.count()));
    for (Time& from : database_from_) from = std::max(from, now_ + length);
}

void FaultWorld::cut_from_database(Dice& dice) {
    const Seconds length{dice.between(1, kOutageMost)};
    happened("cut off from the database");
    log(fmt::format("the active controller has no database for {} s", length.count()));
    database_from_[active_] = std::max(database_from_[active_], now_ + length);
}

// It stays the active one.
void FaultWorld::cut_from_nodes(Dice& dice) {
    const Seconds length{dice.between(1, kOutageMost)};
    happened("cut off from the nodes");
    log(fmt::format("no node is reached for {} s", length.count()));
    for (std::size_t node = 0; node < machines_.size(); ++node) {
        cut(node, dice.chance(0.5));
        reachable_from_[node] = std::max(reachable_from_[node], now_ + length);
    }
}

// What it had decided is refused by the store, and so is what it decides now.
void FaultWorld::wake(const std::shared_ptr<Overtaken>& old) {
    if (may_act(old->renewed)) fail("two controllers may act");
    const auto write = [&](const Decisions& decisions) {
        if (rows_.commit(decisions.changes, decisions.node_names, old->epoch))
            fail("a controller without the lease has written");
    };
    for (const Decided& each : old->writing) write(each.decisions);
    old->decider->begin(old->clock.turn(controller_now(), now_.time_since_epoch()));
    old->decider->tick(0, 0);
    old->decider->pass();
    write(old->decider->finish());
}

}  // namespace sluice
