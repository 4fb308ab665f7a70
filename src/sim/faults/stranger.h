// sim/faults/stranger.h
//
// The rule that a request of one user never changes the job of another: users ask for everything,
// about jobs that are not theirs, and all of it must be refused and leave no trace. Has dice of its
// own: a world takes the same course with and without it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/cluster.h"
#include "sim/random.h"

namespace sluice {

class Stranger {
public:
    explicit Stranger(std::uint64_t seed) : random_(seed ^ 0x5ca1ab1e) {}

    // One request about one of the jobs, and the loss of its connection. The answer says what is
    // wrong with what came of it.
    std::optional<std::string> ask(Cluster& cluster, Time now);
    std::size_t refusals() const { return refusals_; }

private:
    Event request_about(const Job& job);
    JobRef ref_to(const Job& job);

    Random random_;
    std::size_t refusals_ = 0;
};

}  // namespace sluice
