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
    auto plan = [&](auto fault) {
        std::size_t count =
            random_.chance(0.4) ? 0 : random_.below(std::max(kEachMost, machines_.size()));
        for (std::size_t i = 0; i < count; ++i) {
            later(Seconds{random_.between(0, span.count())}, [this, fault] {
                ++result_.faults;
                fault(random_.below(machines_.size()));
            });
        }
    };
    plan([this](std::size_t) { crash(); });
    plan([this](std::size_t) { step_clock(); });
    plan([this](std::size_t) { stall(); });
    for (int i = 0; i < 3; ++i) {
        plan([this](std::size_t node) {
            log(fmt::format("the connection of node {} breaks", node));
            cut(node, random_.chance(0.7));
        });
    }
    plan([this](std::size_t node) { restart_slurmd(node); });
    plan([this](std::size_t node) { cut_power(node); });
    plan([this](std::size_t node) { isolate(node); });
    plan([this](std::size_t node) { freeze(node); });
    if (random_.chance(0.5)) crash_chance_ = 0.002;
    if (random_.chance(0.3)) commit_most_ = kSlowDisk;
}

void FaultWorld::maybe_crash(double probability) {
    if (!calm_ && cluster_ && random_.chance(probability)) crash();
}

void FaultWorld::crash() {
    if (!cluster_) return;
    ++result_.crashes;
    log(fmt::format("the controller crashes with {} batches unwritten", writing_.size()));
    Seconds unseen = clock_offset_ - seen_offset_;
    for (const Decided& lost : writing_) unseen += lost.step;
    if (unseen > kUnseenMost || unseen < -kUnseenMost) {
        clock_offset_ -= unseen;
    } else {
        steps_unseen_ += unseen;
    }
    cluster_.reset();
    inbox_.clear();
    writing_.clear();
    for (std::size_t node = 0; node < machines_.size(); ++node) {
        cut(node, false);
        controller_ends_[node].reset();
    }
    later(Seconds{random_.between(0, 60)}, [this] {
        if (!cluster_) start_controller();
    });
}

void FaultWorld::restart_slurmd(std::size_t node) {
    if (!machines_[node]->is_up()) return;
    log(fmt::format("slurmd of node {} restarts", node));
    machines_[node]->stop_slurmd();
    cut(node, true);
    later(Seconds{random_.between(0, 90)}, [this, node] { machines_[node]->start_slurmd(); });
}

void FaultWorld::cut_power(std::size_t node) {
    if (!machines_[node]->is_up()) return;
    bool disk_is_kept = random_.chance(0.5);
    log(fmt::format("node {} loses power{}", node, disk_is_kept ? "" : " and its disk"));
    restart_machine(node, disk_is_kept, Seconds{180});
}

void FaultWorld::restart_machine(std::size_t node, bool disk_is_kept, Seconds most) {
    machines_[node]->power_off();
    cut(node, random_.chance(0.5));
    later(Seconds{random_.between(5, most.count())},
          [this, node, disk_is_kept] { machines_[node]->power_on(disk_is_kept); });
}

void FaultWorld::isolate(std::size_t node) {
    log(fmt::format("node {} cannot be reached", node));
    cut(node, random_.chance(0.5));
    reachable_from_[node] = now_ + Seconds{random_.between(5, 200)};
}

// Both ends keep the connection, but nothing comes through for a while.
void FaultWorld::freeze(std::size_t node) {
    if (!node_ends_[node]) return;
    log(fmt::format("the connection of node {} hangs", node));
    node_ends_[node]->held_until = now_ + Seconds{random_.between(5, 150)};
}

void FaultWorld::step_clock() {
    const std::int64_t most = random_.chance(0.5) ? 60 : kClockStepMost;
    set_clock(Seconds{random_.between(-most, most)});
    later(Seconds{random_.between(1, kCorrectedWithin)}, [this] {
        if (!calm_) set_clock(Seconds{0});
    });
}

// Steps of hours happen while the controller runs, as it notices no others.
void FaultWorld::set_clock(Seconds offset) {
    const Seconds step = offset - clock_offset_;
    if (!cluster_ && (step > kUnseenMost || step < -kUnseenMost))
        return later(Seconds{5}, [this, offset] { set_clock(offset); });
    log(fmt::format("the controller's clock is set by {} s", step.count()));
    if (!cluster_) steps_unseen_ += step;
    clock_offset_ = offset;
}

// Nothing is decided for a while: the process is stopped, or waits for its disk. What is said to
// it meanwhile waits.
void FaultWorld::stall() {
    if (!cluster_) return;
    const Seconds length{random_.between(5, kStallMost)};
    log(fmt::format("the controller stands still for {} s", length.count()));
    stalled_until_ = std::max(stalled_until_, now_ + length);
}

}  // namespace sluice
