// core/place/sockets.h
//
// The sockets of one node, while the CPUs and devices of a job are chosen on it.
#pragma once

#include "core/place/need.h"

namespace sluice {

// The sockets of one node: which of their CPUs are free, how many are wanted, and how many of one
// socket at most.
struct Sockets {
    Sockets(const Need& need, const NodeKind& kind, const Node& node, std::uint32_t wanted);
    bool is_free(std::uint32_t cpu) const { return !node.cpu_used[cpu] && !reserved[cpu]; }
    std::uint32_t count() const { return std::max(1u, kind.sockets); }
    std::uint32_t size() const { return std::max(1u, kind.cores_per_socket * kind.threads); }
    std::uint32_t socket_of(std::uint32_t cpu) const { return std::min(cpu / size(), count() - 1); }
    std::uint32_t end_of(std::uint32_t socket) const {  // behind its last CPU
        return socket + 1 == count() ? kind.cpus : std::min(kind.cpus, (socket + 1) * size());
    }
    bool is_on(const std::vector<bool>& cores, std::uint32_t cpu) const {
        const std::uint32_t core = cpu / kind.threads;
        return core < cores.size() && cores[core];
    }
    // How many of the wanted CPUs are available on these cores.
    std::uint32_t to_be_had_on(const std::vector<bool>& cores) const;
    const NodeKind& kind;
    const Node& node;
    const std::uint32_t wanted;
    const std::uint32_t most;
    std::vector<bool> reserved;
    std::vector<std::uint32_t> free;
};

}  // namespace sluice
