// node/outbox.h
//
// Reports that the controller must not miss. Each has a number and stays until the controller says
// that everything up to it is on disk; after a lost connection the rest is sent again, in order.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace sluice {

// A Report has sequence() and set_sequence(), as the message has.
template <typename Report>
class Outbox {
public:
    // Numbers the report and keeps it; what is returned is to be sent.
    const Report& add(Report report) {
        report.set_sequence(next_++);
        pending_.push_back(std::move(report));
        return pending_.back();
    }

    // Forgets all up to `sequence`, and says what they were.
    std::vector<Report> acknowledge(std::uint64_t sequence) {
        std::vector<Report> done;
        while (!pending_.empty() && pending_.front().sequence() <= sequence) {
            done.push_back(std::move(pending_.front()));
            pending_.pop_front();
        }
        return done;
    }

    const std::deque<Report>& pending() const { return pending_; }

private:
    std::deque<Report> pending_;
    std::uint64_t next_ = 1;
};

}  // namespace sluice
