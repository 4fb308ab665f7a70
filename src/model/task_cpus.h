// model/task_cpus.h
//
// Which CPUs each task of a step may use on one node, from the step's CPUs there and what was asked
// for. Pure: the node's topology is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/task_bind.h"

namespace sluice {

struct PlacedCpu {
    std::uint32_t number = 0;  // the kernel's
    std::uint32_t socket = 0;
    std::uint32_t core = 0;    // counted over the whole node
    std::uint32_t domain = 0;  // NUMA
    bool operator==(const PlacedCpu&) const = default;
};

// Block: a socket (core) is filled before the next one is used. Cyclic: each task starts on the
// next one and has its CPUs there, if they are enough. Fcyclic: so does each CPU of a task.
enum class Spread : std::uint8_t { Block, Cyclic, Fcyclic };
struct CpuDistribution {
    Spread sockets = Spread::Cyclic;
    Spread cores = Spread::Block;
    bool operator==(const CpuDistribution&) const = default;
};
// Of the text of --distribution, "block:cyclic:block,pack": its second and third part.
CpuDistribution cpu_distribution_of(std::string_view text);

struct StepCpus {
    std::vector<PlacedCpu> cpus;  // of the step, core by core
    bool whole_node = false;      // these are all that jobs may use
};

struct BindDemand {
    TaskBind bind = {};
    BindKind fallback = BindKind::Unset;  // where automatic binding finds no match
    std::size_t tasks = 1;                // on this node
    std::uint32_t cpus_per_task = 1;
    bool one_thread_per_core = false;
    CpuDistribution distribution = {};
    std::vector<Numbers> near = {};  // by task: CPUs close to its devices; empty: no preference
};

struct BoundTasks {
    BindKind kind = BindKind::Unset;  // what became of automatic binding; None: all may use all
    std::vector<Numbers> cpus;        // by task, never empty
};

// An error's detail says which part of the demand cannot be satisfied here.
Result<BoundTasks> bind_tasks(const StepCpus& step, const BindDemand& demand);

}  // namespace sluice
