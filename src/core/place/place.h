// core/place/place.h
//
// Where does it fit? Placement looks at one job's shape and the nodes of one partition, and answers
// with what it would take on each node, or why not.
#pragma once

#include <optional>
#include <string>

#include "core/cluster.h"

namespace sluice {

// What the placement of a job depends on, with the defaults of partition and cluster filled in.
struct Need {
    const Shape* shape = nullptr;
    const Partition* partition = nullptr;
    UserId user;
    Exclusive exclusive = Exclusive::No;    // the job's wish or the partition's rule
    std::uint32_t nodes_min = 1;
    std::optional<std::uint32_t> nodes_max;
    std::uint32_t tasks = 1;              // in all
    std::optional<Megabytes> mem_per_cpu;
    std::optional<Megabytes> mem_per_node;  // 0: all of it
    std::vector<std::string> nodelist;
    std::vector<std::string> exclude;
};

Result<Need> need_of(const Cluster& cluster, const Job& job, const Partition& partition);

enum class Obstacle : std::uint8_t {
    Busy,            // others hold what it needs: wait for them
    NotAvailable,    // nodes it insists on are down or drained
    Never,           // not on this cluster as configured
};

struct Placement {
    std::optional<Allocation> allocation;
    Obstacle obstacle = Obstacle::Busy;
    std::string detail;                   // "UnavailableNodes:n1"
};

// `ignore_use`: as if all nodes were up and idle: can it ever run?
Placement place(const Cluster& cluster, const Need& need, bool ignore_use = false);

}  // namespace sluice
