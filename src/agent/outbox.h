// agent/outbox.h
//
// Reports that the controller must not miss. Each has a number and stays until the controller says
// that everything up to it is on disk; after a lost connection the rest is sent again, in order.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "wire.pb.h"

namespace sluice {

class Outbox {
public:
    // Numbers the report and keeps it; what is returned is to be sent.
    const wire::AgentReport& add(wire::AgentReport report);
    // Forgets all up to `sequence`, and says what they were.
    std::vector<wire::AgentReport> acknowledge(std::uint64_t sequence);
    const std::deque<wire::AgentReport>& pending() const { return pending_; }

private:
    std::deque<wire::AgentReport> pending_;
    std::uint64_t next_ = 1;
};

}  // namespace sluice
