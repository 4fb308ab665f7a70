// model/power.h
//
// Power saving: whether a node is switched on, and what was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace sluice {

// A node is switched off by SuspendProgram, which has SuspendTimeout for it, and on by
// ResumeProgram: it is up when it has registered.
enum class PowerState : std::uint8_t { Up, PoweringDown, Down, PoweringUp };

enum class PowerProgram : std::uint8_t { Suspend, Resume, ResumeFail };

struct Power {
    PowerState state = PowerState::Up;
    // When the node was last handed to SuspendProgram and to ResumeProgram.
    std::optional<Time> suspended, resumed;
    bool started = false;      // that program has started: it is not repeated after a restart
    bool wanted_down = false;  // POWER_DOWN: as soon as no job has the node
    bool wanted_up = false;    // POWER_UP: as soon as it is down
    bool drained = false;      // the drain was set by POWER_DOWN_ASAP, and ends when it is down
    // The slurmd that was last seen there. Another one means that the node was switched on.
    std::string boot_id;
    std::optional<Time> slurmd_start;
    bool operator==(const Power&) const = default;
};

// How a node came to be known: a NodeName line; slurmd -Z or scontrol create; slurmd -F.
enum class NodeOrigin : std::uint8_t { File, Dynamic, Future };

}  // namespace sluice
