#include "core/place/detail.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/node/use.h"

namespace sluice {

namespace {

// The cores of one node, and how many CPUs of each socket are free.
struct Sockets {
    Sockets(const Need& need, const NodeKind& kind, const Node& node)
        : kind(kind), node(node), reserved(kind.reserved), free(count()) {
        if (need.shape->core_spec) reserved = system_cpus(node.config, *need.shape->core_spec);
        if (need.shape->thread_spec) reserved = system_threads(node.config, *need.shape->thread_spec);
        for (std::uint32_t cpu = 0; cpu < kind.cpus; ++cpu) free[socket_of(cpu)] += is_free(cpu) ? 1 : 0;
    }
    bool is_free(std::uint32_t cpu) const { return !node.cpu_used[cpu] && !reserved[cpu]; }
    std::uint32_t count() const { return std::max(1u, kind.sockets); }
    std::uint32_t socket_of(std::uint32_t cpu) const {
        return std::min(cpu / std::max(1u, kind.cores_per_socket * kind.threads), count() - 1);
    }
    const NodeKind& kind;
    const Node& node;
    std::vector<bool> reserved;
    std::vector<std::uint32_t> free;
};

// Sockets in the order in which their CPUs are taken: those close to the devices first, then the
// fullest one that still holds all, so that large gaps stay large.
std::vector<std::uint32_t> socket_order(const Sockets& sockets, std::uint32_t cpus, const std::vector<bool>& close) {
    std::vector<std::uint32_t> order(sockets.count());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    auto rank = [&](std::uint32_t socket) {
        bool holds = sockets.free[socket] >= cpus;
        return std::tuple(!close[socket], !holds, holds ? sockets.free[socket] : 0);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    return order;
}

// How many CPUs of one socket the job may take, by --ntasks-per-socket and --sockets-per-node.
std::uint32_t cpus_per_socket_most(const Need& need, const NodeKind& kind, std::uint32_t cpus) {
    const Shape& shape = *need.shape;
    std::uint32_t most = cpus;
    if (shape.ntasks_per_socket) most = std::max(kind.threads, *shape.ntasks_per_socket * shape.cpus_per_task);
    if (shape.sockets_per_node.value_or(1) > 1) {
        std::uint32_t share = (cpus + *shape.sockets_per_node - 1) / *shape.sockets_per_node;
        most = std::min(most, (share + kind.threads - 1) / kind.threads * kind.threads);
    }
    if (auto limit = need.partition->config.max_cpus_per_socket) most = std::min(most, *limit);
    return most;
}

// What one socket gives where it can be had: one core of each (--hint=memory_bound), two of each, ...
std::uint32_t even_share(const Need& need, const NodeKind& kind, std::uint32_t cpus) {
    if (need.shape->cores_per_socket != 1u) return cpus;
    const std::uint32_t unit = std::max(1u, kind.sockets) * kind.threads;
    return (cpus + unit - 1) / unit * kind.threads;
}

std::optional<std::vector<std::uint32_t>> pick_cpus(const Need& need, const NodeKind& kind, const Node& node,
                                                    std::uint32_t count, const std::vector<bool>& close,
                                                    const std::vector<bool>& allowed_cores) {
    std::vector<std::uint32_t> cpus;
    Sockets sockets(need, kind, node);
    const std::uint32_t most = need.exclusive == Exclusive::Node ? count : cpus_per_socket_most(need, kind, count);
    std::vector<std::uint32_t> here(sockets.count());
    std::vector<bool> taken(kind.cpus);
    for (std::uint32_t limit : {std::min(most, even_share(need, kind, count)), most}) {
        for (std::uint32_t socket : socket_order(sockets, count, close)) {
            for (std::uint32_t cpu = 0; cpu < kind.cpus && cpus.size() < count && here[socket] < limit; ++cpu) {
                if (sockets.socket_of(cpu) != socket || !sockets.is_free(cpu) || taken[cpu]) continue;
                if (!allowed_cores.empty() && !allowed_cores[cpu / kind.threads]) continue;
                cpus.push_back(cpu);
                taken[cpu] = true;
                ++here[socket];
            }
        }
    }
    if (cpus.size() < count) return {};
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

// Devices of the pools that serve the wish, those that share a socket together.
class DevicePicker {
public:
    DevicePicker(const NodeKind& kind, const Node& node) : kind_(kind), node_(node) {
        for (const GresPool& pool : node.gres) {
            used_.push_back(pool.used);
            counts_.push_back(pool.used_count);
        }
    }

    bool pick(const GresCount& wish, std::vector<NodeShare::Devices>& picked) {
        std::uint64_t missing = wish.count;
        for (std::size_t p = 0; p < node_.gres.size() && missing > 0; ++p) {
            const GresPool& pool = node_.gres[p];
            if (!serves(p, wish)) continue;
            std::uint64_t take = std::min(missing, pool.count - std::min(pool.count, counts_[p]));
            if (take == 0) continue;
            NodeShare::Devices& devices = entry_for(picked, pool);
            devices.count += take;
            counts_[p] += take;
            missing -= take;
            if (pool.has_devices) take_slots(p, take, devices.indexes);
        }
        return missing == 0;
    }

    // So many on each of so many sockets: where just enough are free first, with those that are close to
    // all sockets for what is missing.
    bool pick_on_sockets(const GresCount& each, std::uint32_t sockets, std::vector<NodeShare::Devices>& picked) {
        std::vector<std::uint64_t> free(kind_.sockets);
        for (std::size_t p = 0; p < node_.gres.size(); ++p) {
            for (std::uint32_t slot = 0; serves(p, each) && slot < used_[p].size(); ++slot) {
                auto socket = kind_.socket_of(node_.gres[p], slot);
                if (socket && !used_[p][slot]) ++free[*socket];
            }
        }
        std::vector<std::uint32_t> order(kind_.sockets);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            auto rank = [&](std::uint32_t s) { return free[s] >= each.count ? free[s] : ~free[s]; };
            return rank(a) < rank(b);
        });
        order.resize(std::min<std::size_t>(order.size(), sockets));
        std::uint64_t missing = each.count * sockets;
        for (std::uint32_t socket : order) missing -= take_close_to(socket, each, each.count, picked);
        return missing == take_close_to({}, each, missing, picked);
    }

    // By socket and by core: what is close to the devices that were picked.
    std::vector<bool> close_sockets;
    std::vector<bool> close_cores;

private:
    bool serves(std::size_t p, const GresCount& wish) const {
        const GresPool& pool = node_.gres[p];
        return pool.name == wish.name && (wish.type.empty() || wish.type == pool.type);
    }

    // Up to so many of the free ones that are close to this socket, or to all of them; how many.
    std::uint64_t take_close_to(std::optional<std::uint32_t> socket, const GresCount& wish, std::uint64_t most,
                                std::vector<NodeShare::Devices>& picked) {
        std::uint64_t taken = 0;
        for (std::size_t p = 0; p < node_.gres.size(); ++p) {
            for (std::uint32_t slot = 0; serves(p, wish) && slot < used_[p].size() && taken < most; ++slot) {
                const GresPool& pool = node_.gres[p];
                if (used_[p][slot] || kind_.socket_of(pool, slot) != socket) continue;
                NodeShare::Devices& devices = entry_for(picked, pool);
                take_slot(p, slot, devices.indexes);
                std::sort(devices.indexes.begin(), devices.indexes.end());
                ++devices.count;
                ++counts_[p];
                ++taken;
            }
        }
        return taken;
    }

    static NodeShare::Devices& entry_for(std::vector<NodeShare::Devices>& picked, const GresPool& pool) {
        for (NodeShare::Devices& devices : picked) {
            if (devices.name == pool.name && devices.type == pool.type) return devices;
        }
        return picked.emplace_back(NodeShare::Devices{pool.name, pool.type, {}, 0});
    }

    std::uint32_t socket_of(const GresPool& pool, std::uint32_t slot) const {
        return kind_.socket_of(pool, slot).value_or(0);
    }

    // The socket whose free devices are just enough; else from the first device on.
    void take_slots(std::size_t p, std::uint64_t take, std::vector<std::uint32_t>& indexes) {
        const GresPool& pool = node_.gres[p];
        std::vector<std::uint64_t> free(kind_.sockets, 0);
        for (std::uint32_t slot = 0; slot < used_[p].size(); ++slot) free[socket_of(pool, slot)] += used_[p][slot] ? 0 : 1;
        std::optional<std::uint32_t> best;
        for (std::uint32_t socket = 0; socket < kind_.sockets; ++socket) {
            if (free[socket] >= take && (!best || free[socket] < free[*best])) best = socket;
        }
        for (std::uint32_t slot = 0; slot < used_[p].size() && take > 0; ++slot) {
            if (used_[p][slot] || (best && socket_of(pool, slot) != *best)) continue;
            take_slot(p, slot, indexes);
            --take;
        }
        std::sort(indexes.begin(), indexes.end());
    }

    void take_slot(std::size_t p, std::uint32_t slot, std::vector<std::uint32_t>& indexes) {
        used_[p][slot] = true;
        indexes.push_back(node_.gres[p].first_index + slot);
        note_close(node_.gres[p], slot);
    }

    void note_close(const GresPool& pool, std::uint32_t slot) {
        if (pool.cores.empty()) return;
        close_sockets.resize(kind_.sockets);
        close_cores.resize(kind_.cores());
        close_sockets[socket_of(pool, slot)] = true;
        for (std::uint32_t core : pool.cores[slot]) {
            if (core < close_cores.size()) close_cores[core] = true;
        }
    }

    const NodeKind& kind_;
    const Node& node_;
    std::vector<std::vector<bool>> used_;
    std::vector<std::uint64_t> counts_;
};

// Without those of --gpus-per-socket, which are picked socket by socket.
std::vector<GresCount> wishes_on(const Need& need, const Node& node, const Chosen& chosen) {
    const auto on_sockets = static_cast<std::ptrdiff_t>(need.shape->gpus_per_socket.size());
    std::vector<GresCount> wishes(need.gres_per_node.begin() + on_sockets, need.gres_per_node.end());
    for (std::size_t i = 0; i < chosen.gpus.size(); ++i) {
        wishes.push_back({need.gpus[i].name, need.gpus[i].type, chosen.gpus[i]});
    }
    for (GresCount wish : need.shape->gpus_per_task) {
        wish.count *= std::max(1u, chosen.tasks);
        wishes.push_back(std::move(wish));
    }
    if (need.exclusive == Exclusive::Node && wishes.empty() && on_sockets == 0) {
        for (const GresPool& pool : node.gres) wishes.push_back({pool.name, pool.type, pool.count});
    }
    return wishes;
}

}  // namespace

std::optional<NodeShare> share_on(const Need& need, const NodeKind& kind, const Node& node, const Chosen& chosen) {
    NodeShare share{.node = node.index, .tasks = chosen.tasks, .cpus = {}, .memory = 0, .gres = {}};
    DevicePicker picker(kind, node);
    for (const GresCount& wish : need.shape->gpus_per_socket) {
        std::uint32_t sockets = need.shape->sockets_per_node.value_or(1);
        if (wish.count > 0 && !picker.pick_on_sockets(wish, sockets, share.gres)) return {};
    }
    for (const GresCount& wish : wishes_on(need, node, chosen)) {
        if (wish.count > 0 && !picker.pick(wish, share.gres)) return {};
    }
    std::vector<bool> close = picker.close_sockets;
    close.resize(std::max(1u, kind.sockets), false);
    std::vector<bool> allowed;
    if (need.shape->bind_gpus_to_cores) allowed = picker.close_cores;
    auto count = static_cast<std::uint32_t>(chosen.take[Amounts::kCpus]);
    if (need.shape->core_spec || need.shape->thread_spec) count = whole_node_cpus(need, kind);
    auto cpus = pick_cpus(need, kind, node, count, close, allowed);
    if (!cpus) return {};
    share.cpus = *std::move(cpus);
    share.memory = static_cast<Megabytes>(chosen.take[Amounts::kMemory]);
    return share;
}

}  // namespace sluice
