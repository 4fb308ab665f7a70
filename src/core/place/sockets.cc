#include "core/place/sockets.h"

#include <algorithm>

#include "core/place/use.h"

namespace sluice {

namespace {

// How many CPUs of one socket the job may take, by --ntasks-per-socket and --sockets-per-node.
std::uint32_t cpus_per_socket_most(const Need& need, const NodeKind& kind, std::uint32_t cpus) {
    if (need.exclusive == Exclusive::Node) return cpus;
    const Shape& shape = *need.shape;
    std::uint32_t most = cpus;
    if (shape.ntasks_per_socket)
        most = std::max(kind.threads, *shape.ntasks_per_socket * shape.cpus_per_task);
    if (shape.sockets_per_node.value_or(1) > 1) {
        std::uint32_t share = (cpus + *shape.sockets_per_node - 1) / *shape.sockets_per_node;
        most = std::min(most, (share + kind.threads - 1) / kind.threads * kind.threads);
    }
    if (auto limit = need.partition->config.max_cpus_per_socket) most = std::min(most, *limit);
    return most;
}

}  // namespace

Sockets::Sockets(const Need& need, const NodeKind& kind, const Node& node, std::uint32_t wanted)
    : kind(kind),
      node(node),
      wanted(wanted),
      most(cpus_per_socket_most(need, kind, wanted)),
      reserved(kind.reserved),
      free(count()) {
    if (need.shape->core_spec) reserved = system_cpus(node.config, *need.shape->core_spec);
    if (need.shape->thread_spec) reserved = system_threads(node.config, *need.shape->thread_spec);
    // Nodes that are given as a whole are given with their GPUs.
    const bool has_gpus = need.asks_for_gpus() || need.exclusive == Exclusive::Node;
    for (std::uint32_t cpu = 0; !has_gpus && cpu < kind.for_gpus.size(); ++cpu)
        reserved[cpu] = reserved[cpu] || kind.for_gpus[cpu];
    for (std::uint32_t cpu = 0; cpu < kind.cpus; ++cpu)
        free[socket_of(cpu)] += is_free(cpu) ? 1 : 0;
}

std::uint32_t Sockets::to_be_had_on(const std::vector<bool>& cores) const {
    std::vector<std::uint32_t> here(count());
    for (std::uint32_t cpu = 0; cpu < kind.cpus; ++cpu) {
        if (is_free(cpu) && is_on(cores, cpu)) ++here[socket_of(cpu)];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t cpus : here) sum += std::min(cpus, most);
    return std::min(sum, wanted);
}

}  // namespace sluice
