// sim/faults/fault_power.cc: nodes that are switched off and on by programs, which may fail.
#include <fmt/format.h>

#include "core/effect.h"
#include "sim/faults/fault_world.h"

namespace sluice {

namespace {

constexpr std::int64_t kOffWithin = 20, kOnWithin = 40;  // seconds

}  // namespace

// The stream has no rolls in traces of worlds without power saving: then nothing happens.
PowerSettings FaultWorld::power_settings() {
    PowerSettings power;
    power.enabled = dice("power").chance(0.5);
    power.suspend_timeout = Seconds{kOffWithin + 1};
    power.suspend_rate = dice("power").chance(0.5) ? 0 : 2;
    power.resume_rate = dice("power").chance(0.5) ? 0 : 3;
    power.idle_on_suspend = dice("power").chance(0.3);
    return power;
}

void FaultWorld::command_power() {
    constexpr NodeCommand kCommands[] = {NodeCommand::PowerDown, NodeCommand::PowerDownAsap,
                                         NodeCommand::PowerDownForce, NodeCommand::PowerUp};
    const NodeCommand command = kCommands[dice("power").below(std::size(kCommands))];
    const std::string node = first_settings_->nodes[dice("power").below(options_.nodes)].name;
    ask(fmt::format("node {}", print(command)),
        [node, command](RequestId request) {
            return UpdateNode{request, kRoot, {node}, {.state = command}};
        },
        {});
}

void FaultWorld::run_power_program(const RunPowerProgram& order) {
    Dice& dice = this->dice("power");
    const bool is_off = order.program == PowerProgram::Suspend;
    happened(is_off ? "switched off" : "switched on");
    for (const std::string& name : order.nodes) {
        const std::size_t node = machine_named(name);
        if (order.program == PowerProgram::ResumeFail || (!calm_ && dice.chance(0.15))) continue;
        later(Seconds{dice.between(0, is_off ? kOffWithin : kOnWithin)},
              [this, node, is_off] { is_off ? switch_off(node) : switch_on(node); });
    }
    if (order.program != PowerProgram::ResumeFail)
        push({PowerProgramStarted{order.program, order.nodes}, {}});
}

void FaultWorld::switch_off(std::size_t node) {
    log(fmt::format("node {} is switched off", node));
    ++boots_[node];
    machines_[node]->power_off();
    cut(node, dice("power").chance(0.5));
}

// In the end a program also helps where SuspendProgram has failed before.
void FaultWorld::switch_on(std::size_t node) {
    if (machines_[node]->is_up() && !calm_) return;
    log(fmt::format("node {} is switched on", node));
    if (machines_[node]->is_up()) switch_off(node);
    ++boots_[node];
    machines_[node]->power_on(true);
}

}  // namespace sluice
