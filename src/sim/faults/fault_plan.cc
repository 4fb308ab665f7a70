// sim/faults/fault_plan.cc: what goes wrong in a fault world, and when.
#include <fmt/format.h>

#include <algorithm>

#include "sim/faults/fault_world.h"

namespace sluice {
namespace {

constexpr std::size_t kEachMost = 12;  // of each kind, in worlds that have that kind at all
constexpr std::int64_t kSlowDisk = 8;  // seconds that a commit may take
constexpr std::int64_t kClockStepMost = 3 * 3600;
constexpr std::int64_t kCorrectedWithin = 120;
constexpr Seconds kUnseenMost{300};  // jobs are remembered for longer than this
constexpr std::int64_t kStallMost = 600;

}  // namespace

// Every world has its own mixture: of each kind none, few or many.
void FaultWorld::plan_faults() {
    Seconds span = calm_from_ - now_;
    Dice& random = dice("faults");
    const auto plan = [&](const char* kind, auto fault) {
        const std::size_t count =
            random.chance(0.4) ? 0 : random.below(std::max(kEachMost, machines_.size()));
        for (std::size_t i = 0; i < count; ++i) {
            Dice& own = dice(fmt::format("{} {}", kind, i));  // stays in its map
            const std::size_t node = own.below(machines_.size());
            later(Seconds{own.between(0, span.count())}, [this, fault, &own, node] {
                ++result_.faults;
                fault(own, node);
            });
        }
    };
    plan("crash", [this](Dice& own, std::size_t) { crash(own); });
    plan("clock", [this](Dice& own, std::size_t) { step_clock(own); });
    plan("stall", [this](Dice& own, std::size_t) { stall(own); });
    for (const char* kind : {"cut", "second cut", "third cut"}) {
        plan(kind, [this](Dice& own, std::size_t node) {
            log(fmt::format("the connection of node {} breaks", node));
            cut(node, own.chance(0.7));
        });
    }
    plan("restart", [this](Dice& own, std::size_t node) { restart_slurmd(own, node); });
    plan("power", [this](Dice& own, std::size_t node) { cut_power(own, node); });
    plan("isolation", [this](Dice& own, std::size_t node) { isolate(own, node); });
    plan("freeze", [this](Dice& own, std::size_t node) { freeze(own, node); });
    plan("supervisor", [this](Dice&, std::size_t node) { machines_[node]->kill_supervisor(); });
    if (random.chance(0.5)) crash_chance_ = 0.002;
    if (random.chance(0.3)) commit_most_ = kSlowDisk;
    if (random.chance(0.5)) slurmd_end_chance_ = 0.005;
    if (options_.controllers == 1) return;
    clocks_differ_ = random.chance(0.5);
    plan("database", [this](Dice& own, std::size_t) { lose_database(own); });
    plan("no database", [this](Dice& own, std::size_t) { cut_from_database(own); });
    plan("no nodes", [this](Dice& own, std::size_t) { cut_from_nodes(own); });
}

void FaultWorld::maybe_crash(double probability, std::string_view when) {
    if (calm_ || !cluster_ || !dice("controller").chance(probability)) return;
    happened(when);
    crash(dice("controller"));
}

void FaultWorld::crash(Dice& dice) {
    if (!cluster_) return;
    ++result_.crashes;
    log(fmt::format("the controller crashes with {} batches unwritten", writing_.size()));
    lose_controller();
    const Seconds length{dice.between(0, 60)};
    down_until_[active_] = now_ + length;
    if (options_.controllers > 1) return;  // watch_lease() starts it
    later(length, [this] {
        if (!cluster_) start_controller();
    });
}

void FaultWorld::lose_controller() {
    Seconds unseen = clock_offset_ - seen_offset_;
    for (const Decided& lost : writing_) unseen += lost.step;
    if (unseen > kUnseenMost || unseen < -kUnseenMost) {
        clock_offset_ -= unseen;
    } else {
        steps_unseen_ += unseen;
    }
    cluster_ = nullptr;
    decider_.reset();
    inbox_.clear();
    writing_.clear();
    for (std::size_t node = 0; node < machines_.size(); ++node) {
        cut(node, false);
        controller_ends_[node].reset();
    }
}

void FaultWorld::restart_slurmd(Dice& dice, std::size_t node) {
    if (!machines_[node]->is_up()) return;
    log(fmt::format("slurmd of node {} restarts", node));
    machines_[node]->stop_slurmd();
    cut(node, true);
    later(Seconds{dice.between(0, 90)}, [this, node, boots = boots_[node]] {
        if (boots == boots_[node]) machines_[node]->start_slurmd();
    });
}

void FaultWorld::cut_power(Dice& dice, std::size_t node) {
    if (!machines_[node]->is_up()) return;
    bool disk_is_kept = dice.chance(0.5);
    log(fmt::format("node {} loses power{}", node, disk_is_kept ? "" : " and its disk"));
    restart_machine(dice, node, disk_is_kept, Seconds{180});
}

void FaultWorld::restart_machine(Dice& dice, std::size_t node, bool disk_is_kept, Seconds most) {
    ++boots_[node];
    machines_[node]->power_off();
    cut(node, dice.chance(0.5));
    later(Seconds{dice.between(5, most.count())}, [this, node, disk_is_kept, boots = boots_[node]] {
        if (boots == boots_[node]) machines_[node]->power_on(disk_is_kept);
    });
}

void FaultWorld::isolate(Dice& dice, std::size_t node) {
    log(fmt::format("node {} cannot be reached", node));
    cut(node, dice.chance(0.5));
    reachable_from_[node] = now_ + Seconds{dice.between(5, 200)};
}

// Both ends keep the connection, but nothing comes through for a while.
void FaultWorld::freeze(Dice& dice, std::size_t node) {
    if (!node_ends_[node]) return;
    log(fmt::format("the connection of node {} hangs", node));
    node_ends_[node]->held_until = now_ + Seconds{dice.between(5, 150)};
}

void FaultWorld::step_clock(Dice& dice) {
    const std::int64_t most = dice.chance(0.5) ? 60 : kClockStepMost;
    set_clock(Seconds{dice.between(-most, most)});
    later(Seconds{dice.between(1, kCorrectedWithin)}, [this] {
        if (!calm_) set_clock(Seconds{0});
    });
}

// Steps of hours happen while the controller runs, as it notices no others.
void FaultWorld::set_clock(Seconds offset) {
    const Seconds step = offset - clock_offset_;
    if (!cluster_ && (step > kUnseenMost || step < -kUnseenMost))
        return later(Seconds{5}, [this, offset] { set_clock(calm_ ? Seconds{0} : offset); });
    log(fmt::format("the controller's clock is set by {} s", step.count()));
    if (!cluster_) steps_unseen_ += step;
    clock_offset_ = offset;
}

// Nothing is decided for a while: the process is stopped, or waits for its disk. What is said to
// it meanwhile waits. A second controller may be stopped with it, as when both hosts are paused: it
// cannot take over then, and the first one itself must see that its lease has ended.
void FaultWorld::stall(Dice& dice) {
    if (!cluster_) return;
    const Seconds length{dice.between(5, kStallMost)};
    log(fmt::format("the controller stands still for {} s", length.count()));
    stalled_until_ = std::max(stalled_until_, now_ + length);
    if (options_.controllers > 1 && dice.chance(0.3)) down_until_[1 - active_] = stalled_until_;
}

}  // namespace sluice
