#include "agent/outbox.h"

namespace sluice {

const wire::AgentReport& Outbox::add(wire::AgentReport report) {
    report.set_sequence(next_++);
    pending_.push_back(std::move(report));
    return pending_.back();
}

std::vector<wire::AgentReport> Outbox::acknowledge(std::uint64_t sequence) {
    std::vector<wire::AgentReport> done;
    while (!pending_.empty() && pending_.front().sequence() <= sequence) {
        done.push_back(std::move(pending_.front()));
        pending_.pop_front();
    }
    return done;
}

}  // namespace sluice
