// turn/tick_gate.h
//
// Due timers wait until all that had arrived by then is decided, in as many turns as that takes: a
// job whose end is in the inbox has not reached its limit, a node whose heartbeat is there is not
// silent. Later arrivals do not delay them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

namespace sluice {

class TickGate {
public:
    // Called in each turn, after `decided` events; `waiting` more are in the inbox.
    bool may_tick(bool is_due, std::size_t decided, std::size_t waiting) {
        if (!is_due)
            before_.reset();
        else
            before_ = before_ ? *before_ - std::min(*before_, decided) : waiting;
        if (before_ != 0) return false;
        before_.reset();
        return true;
    }

private:
    std::optional<std::size_t>
        before_;  // events that are still to be decided; none: nothing is due
};

}  // namespace sluice
