// sim/faults/dice.h
//
// All that is random in a fault world, in named streams: one for each client, fault, node and so
// on. What a stream gives does not depend on how often others are asked. A world's rolls can be
// written to a file (a trace) and replayed: from then on the case does not depend on the seed any
// more, nor on the order in which the code asks different streams.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/random.h"

namespace sluice {

// One stream. A replayed stream that has no more rolls gives 0 and false: nothing happens.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    explicit Dice(std::vector<std::uint64_t> rolls)
        : random_(0), rolls_(std::move(rolls)), is_replayed_(true) {}

    std::uint64_t below(std::uint64_t limit) {
        return is_replayed_ ? replayed() % limit : note(random_.below(limit));
    }
    // Both ends are possible.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
    }
    bool chance(double probability) {
        return is_replayed_ ? replayed() != 0 : note(random_.chance(probability) ? 1 : 0) != 0;
    }
    const std::vector<std::uint64_t>& rolls() const { return rolls_; }

private:
    std::uint64_t note(std::uint64_t roll) {
        rolls_.push_back(roll);
        return roll;
    }
    std::uint64_t replayed() { return next_ < rolls_.size() ? rolls_[next_++] : 0; }

    Random random_;
    std::vector<std::uint64_t> rolls_;
    std::size_t next_ = 0;
    bool is_replayed_ = false;
};

// What makes a world: its size, and every roll.
struct FaultTrace {
    std::uint64_t seed = 1;  // of the scripts
    std::uint32_t nodes = 0, jobs = 0, controllers = 1;
    bool with_preemption = true, by_qos = false, wide = true;
    std::map<std::string, std::vector<std::uint64_t>, std::less<>> rolls;  // by stream
};
std::string print_fault_trace(const FaultTrace& trace);
Result<FaultTrace> parse_fault_trace(std::string_view text);

}  // namespace sluice
