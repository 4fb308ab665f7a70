#include "core/place/detail.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/place/pick_devices.h"
#include "core/place/sockets.h"

namespace sluice {

namespace {

// Sockets in the order in which their CPUs are taken: those close to the devices first, then the
// fullest one that still has room for all, so that large gaps stay large.
std::vector<std::uint32_t> socket_order(const Sockets& sockets,
                                        const std::vector<bool>& close_cores) {
    std::vector<bool> close(sockets.count());
    for (std::uint32_t cpu = 0; cpu < sockets.kind.cpus; ++cpu) {
        if (sockets.is_on(close_cores, cpu)) close[sockets.socket_of(cpu)] = true;
    }
    std::vector<std::uint32_t> order(sockets.count());
    std::iota(order.begin(), order.end(), 0u);
    auto rank = [&](std::uint32_t socket) {
        bool holds = sockets.free[socket] >= sockets.wanted;
        return std::tuple(!close[socket], !holds, holds ? sockets.free[socket] : 0);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    return order;
}

// How many CPUs one socket gives if possible: one core of each (--hint=memory_bound), two of each,
// ...
std::uint32_t even_share(const Need& need, const NodeKind& kind, std::uint32_t cpus) {
    if (need.shape->cores_per_socket != 1u) return cpus;
    const std::uint32_t unit = std::max(1u, kind.sockets) * kind.threads;
    return (cpus + unit - 1) / unit * kind.threads;
}

// CPUs on the close cores first; with --gres-flags=enforce-binding only these.
std::optional<std::vector<std::uint32_t>> pick_cpus(const Need& need, const Sockets& sockets,
                                                    const std::vector<bool>& close_cores) {
    const NodeKind& kind = sockets.kind;
    const bool only_close = need.binds_gpus && !close_cores.empty();
    const std::uint32_t even = std::min(sockets.most, even_share(need, kind, sockets.wanted));
    const std::vector<std::uint32_t> order = socket_order(sockets, close_cores);
    std::vector<std::uint32_t> cpus, here(sockets.count());
    std::vector<bool> taken(kind.cpus);
    auto take = [&](std::uint32_t most, bool close) {
        for (std::uint32_t socket : order) {
            const std::uint32_t end = sockets.end_of(socket);
            for (std::uint32_t cpu = socket * sockets.size();
                 cpu < end && cpus.size() < sockets.wanted && here[socket] < most; ++cpu) {
                if (!sockets.is_free(cpu) || taken[cpu]) continue;
                if (close && !sockets.is_on(close_cores, cpu)) continue;
                cpus.push_back(cpu);
                taken[cpu] = true;
                ++here[socket];
            }
        }
    };
    for (std::uint32_t most : {even, sockets.most}) {
        if (!close_cores.empty()) take(most, true);
        if (!only_close) take(most, false);
    }
    if (cpus.size() < sockets.wanted) return {};
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

}  // namespace

std::optional<NodeShare> share_on(const Need& need, const NodeKind& kind, const Node& node,
                                  const Chosen& chosen) {
    NodeShare share{.node = node.index, .tasks = chosen.tasks, .cpus = {}, .memory = 0, .gres = {}};
    auto count = static_cast<std::uint32_t>(chosen.take[Amounts::kCpus]);
    if (need.shape->core_spec || need.shape->thread_spec) count = whole_node_cpus(need, kind);
    const Sockets sockets(need, kind, node, count);
    auto close_cores = pick_devices(need, sockets, chosen, share.gres);
    if (!close_cores) return {};
    auto cpus = pick_cpus(need, sockets, *close_cores);
    if (!cpus) return {};
    share.cpus = *std::move(cpus);
    share.memory = static_cast<Megabytes>(chosen.take[Amounts::kMemory]);
    return share;
}

}  // namespace sluice
