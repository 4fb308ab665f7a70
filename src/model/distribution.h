// model/distribution.h
//
// --distribution: on which nodes the tasks of a step run, and which numbers they have there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

struct Distribution {
    enum class Kind : std::uint8_t {
        Block,      // fills one node after the other
        Cyclic,     // takes the nodes in turn
        Plane,      // the same, with so many tasks at a time
        Arbitrary,  // each task names its node
    };
    Kind kind = Kind::Block;
    std::uint32_t plane_size = 1;

    bool operator==(const Distribution&) const = default;
};

// "block", "cyclic:fcyclic", "*:*:block,pack", "plane=4", "arbitrary", in the words that steps are
// told: small letters, and with names for the defaults. Levels below the node and the packing are
// kept as text.
Result<std::string> parse_distribution(std::string_view text);
// Of such a text.
Distribution distribution_of(std::string_view normalized);
// "Block", "Cyclic", "BCyclicBlock,NoPack", "Plane": as `scontrol show step` writes such a text.
std::string print_distribution(std::string_view normalized);

// How many tasks a node has room for.
struct TaskRoom {
    std::uint32_t with_cpus = 0;  // each with CPUs of its own
    std::uint32_t most = 0;       // and with --overcommit
};

// Tasks per node: at least one on each node with room, as long as there are enough. Empty: there is
// too little room. Not for an arbitrary distribution.
std::vector<std::uint32_t> spread_tasks(std::uint32_t tasks, const std::vector<TaskRoom>& rooms,
                                        const Distribution& distribution);

// The numbers of the tasks of each node, for these counts. Not for an arbitrary distribution.
std::vector<std::vector<std::uint32_t>> number_tasks(const std::vector<std::uint32_t>& counts,
                                                     const Distribution& distribution);

}  // namespace sluice
