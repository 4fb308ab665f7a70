#include "core/place/detail.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

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

// The sockets of one node: which of their CPUs are free, how many are wanted, and how many of one
// socket at most.
struct Sockets {
    Sockets(const Need& need, const NodeKind& kind, const Node& node, std::uint32_t wanted)
        : kind(kind),
          node(node),
          wanted(wanted),
          most(cpus_per_socket_most(need, kind, wanted)),
          reserved(kind.reserved),
          free(count()) {
        if (need.shape->core_spec) reserved = system_cpus(node.config, *need.shape->core_spec);
        if (need.shape->thread_spec)
            reserved = system_threads(node.config, *need.shape->thread_spec);
        for (std::uint32_t cpu = 0; cpu < kind.cpus; ++cpu)
            free[socket_of(cpu)] += is_free(cpu) ? 1 : 0;
    }
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
    std::uint32_t to_be_had_on(const std::vector<bool>& cores) const {
        std::vector<std::uint32_t> here(count());
        for (std::uint32_t cpu = 0; cpu < kind.cpus; ++cpu) {
            if (is_free(cpu) && is_on(cores, cpu)) ++here[socket_of(cpu)];
        }
        std::uint32_t sum = 0;
        for (std::uint32_t cpus : here) sum += std::min(cpus, most);
        return std::min(sum, wanted);
    }
    const NodeKind& kind;
    const Node& node;
    const std::uint32_t wanted;
    const std::uint32_t most;
    std::vector<bool> reserved;
    std::vector<std::uint32_t> free;
};

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
    const bool only_close = need.shape->bind_gpus_to_cores && !close_cores.empty();
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

// Free devices of one pool that are close to the same cores, and so are equivalent.
struct Group {
    const GresPool* pool = nullptr;
    std::uint64_t free = 0;
    std::vector<std::uint32_t> slots;  // of the free ones, if they are numbered
    std::optional<std::uint32_t> socket;
    std::vector<bool> cores;  // empty: close to all
    bool is_far = false;      // no CPU close to it is free
};

void add_cores(std::vector<bool>& cores, const std::vector<bool>& more) {
    cores.resize(std::max(cores.size(), more.size()));
    for (std::size_t core = 0; core < more.size(); ++core) cores[core] = cores[core] || more[core];
}

Group group_of(const Sockets& sockets, const GresPool& pool, std::uint32_t slot) {
    Group group{.pool = &pool, .socket = sockets.kind.socket_of(pool, slot)};
    if (!group.socket) return group;
    group.cores.resize(sockets.kind.cores());
    for (std::uint32_t core : pool.cores[slot]) {
        if (core < group.cores.size()) group.cores[core] = true;
    }
    group.is_far = sockets.to_be_had_on(group.cores) == 0;
    return group;
}

// Groups with free CPUs close to them first.
std::vector<Group> groups_on(const Sockets& sockets) {
    std::vector<Group> groups;
    for (const GresPool& pool : sockets.node.gres) {
        if (!pool.has_devices) {
            groups.push_back(
                {.pool = &pool, .free = pool.count - std::min(pool.count, pool.used_count)});
        }
        for (std::uint32_t slot = 0; slot < pool.used.size(); ++slot) {
            if (pool.used[slot]) continue;
            auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& each) {
                return each.pool == &pool &&
                       (pool.cores.empty() || pool.cores[each.slots.front()] == pool.cores[slot]);
            });
            if (group == groups.end()) group = groups.insert(group, group_of(sockets, pool, slot));
            group->slots.push_back(slot);
            ++group->free;
        }
    }
    std::stable_partition(groups.begin(), groups.end(),
                          [](const Group& group) { return !group.is_far; });
    return groups;
}

// Chooses devices: of all sets of groups that satisfy the request the best one.
class DevicePicker {
public:
    DevicePicker(const Sockets& sockets, bool only_close)
        : sockets_(sockets),
          only_close_(only_close),
          groups_(groups_on(sockets)),
          taken_(groups_.size()) {}

    void add(const GresCount& demand) {
        Draw& draw = draws_.emplace_back(Draw{{}, demand.count});
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (serves(g, demand)) draw.groups.push_back(g);
        }
    }

    // A number of devices on each of several sockets: sockets with enough free devices and CPUs,
    // those with just enough devices first; devices that are close to all sockets fill what is
    // missing.
    void add_on_sockets(const GresCount& each, std::uint32_t sockets) {
        std::vector<Draw> on(sockets_.count());
        std::vector<std::vector<bool>> cores(on.size());
        Draw anywhere;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (!serves(g, each)) continue;
            Draw& draw = groups_[g].socket ? on[*groups_[g].socket] : anywhere;
            draw.groups.push_back(g);
            draw.count += groups_[g].free;
            if (groups_[g].socket) add_cores(cores[*groups_[g].socket], groups_[g].cores);
        }
        std::vector<std::tuple<bool, std::uint32_t, std::uint64_t, std::uint32_t>> order;
        for (std::uint32_t s = 0; s < on.size(); ++s) {
            if (on[s].count < each.count)
                order.emplace_back(true, 0, ~on[s].count, s);
            else
                order.emplace_back(false, sockets_.wanted - sockets_.to_be_had_on(cores[s]),
                                   on[s].count, s);
        }
        std::sort(order.begin(), order.end());
        order.resize(std::min<std::size_t>(order.size(), sockets));
        anywhere.count = each.count * sockets;
        for (const auto& rank : order) {
            Draw& draw = on[std::get<3>(rank)];
            draw.count = std::min(draw.count, each.count);
            anywhere.count -= draw.count;
            draws_.push_back(draw);
        }
        draws_.push_back(anywhere);
    }

    // Returns the cores close to what was picked; absent: the request cannot be satisfied.
    std::optional<std::vector<bool>> pick(std::vector<NodeShare::Devices>& picked) {
        try_groups(0, 0, {});
        if (!best_) return {};
        for (const Draw& draw : draws_) {
            for (std::size_t g : draw.groups)
                hand_out(groups_[g], std::exchange(best_->taken[g], 0), picked);
        }
        return std::move(best_->close_cores);
    }

private:
    // A number of devices out of these groups.
    struct Draw {
        std::vector<std::size_t> groups;
        std::uint64_t count = 0;
    };

    // Lower is better: devices far from all free CPUs, sockets, groups, CPUs that are not close,
    // and devices that stay free on the sockets, so that large gaps stay large.
    using Price = std::tuple<std::uint64_t, std::size_t, std::size_t, std::uint32_t, std::uint64_t>;
    struct Pick {
        Price price;
        std::vector<std::uint64_t> taken;  // by group
        std::vector<bool> close_cores;
    };

    bool serves(std::size_t g, const GresCount& demand) const {
        const GresPool& pool = *groups_[g].pool;
        return pool.name == demand.name && (demand.type.empty() || demand.type == pool.type);
    }

    // Tries the sets of groups for each draw in turn. Nodes have few groups; if all devices have
    // different cores, only the first sets are tried.
    void try_groups(std::size_t d, std::size_t at, std::vector<std::size_t> chosen) {
        constexpr std::uint32_t kMostSteps = 2'000;
        if (++steps_ > kMostSteps) return;
        if (d == draws_.size()) return compare();
        const Draw& draw = draws_[d];
        if (at < draw.groups.size() && chosen.size() < draw.count) {
            std::vector<std::size_t> more = chosen;
            more.push_back(draw.groups[at]);
            try_groups(d, at + 1, std::move(more));
            return try_groups(d, at + 1, std::move(chosen));
        }
        const std::vector<std::uint64_t> before = taken_;
        if (take(chosen, draw.count)) try_groups(d + 1, 0, {});
        taken_ = before;
    }

    // One of each group, then as many as there are from the first group on.
    bool take(const std::vector<std::size_t>& chosen, std::uint64_t count) {
        for (std::size_t g : chosen) {
            if (taken_[g] == groups_[g].free) return false;
            ++taken_[g];
            --count;
        }
        for (std::size_t g : chosen) {
            std::uint64_t more = std::min(count, groups_[g].free - taken_[g]);
            taken_[g] += more;
            count -= more;
        }
        return count == 0;
    }

    void compare() {
        Pick pick{{}, taken_, {}};
        auto& [far, sockets, groups, cpus, left] = pick.price;
        std::vector<bool> touched(sockets_.count());
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (taken_[g] == 0) continue;
            ++groups;
            if (groups_[g].is_far) far += taken_[g];
            if (groups_[g].socket) touched[*groups_[g].socket] = true;
        }
        sockets = static_cast<std::size_t>(std::count(touched.begin(), touched.end(), true));
        if (best_ && best_->price < pick.price) return;  // the rest can only add to it
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (taken_[g] > 0) add_cores(pick.close_cores, groups_[g].cores);
        }
        if (!pick.close_cores.empty())
            cpus = sockets_.wanted - sockets_.to_be_had_on(pick.close_cores);
        if (only_close_ && cpus > 0) return;
        for (const Draw& draw : draws_) {
            for (std::size_t g : draw.groups) {
                if (groups_[g].socket && touched[*groups_[g].socket])
                    left += groups_[g].free - taken_[g];
            }
        }
        if (!best_ || pick.price < best_->price) best_ = std::move(pick);
    }

    static void hand_out(const Group& group, std::uint64_t count,
                         std::vector<NodeShare::Devices>& picked) {
        if (count == 0) return;
        auto devices =
            std::find_if(picked.begin(), picked.end(), [&](const NodeShare::Devices& each) {
                return each.name == group.pool->name && each.type == group.pool->type;
            });
        if (devices == picked.end())
            devices = picked.insert(devices, {group.pool->name, group.pool->type, {}, 0});
        devices->count += count;
        for (std::size_t i = 0; i < count && i < group.slots.size(); ++i) {
            devices->indexes.push_back(group.pool->first_index + group.slots[i]);
        }
        std::sort(devices->indexes.begin(), devices->indexes.end());
    }

    const Sockets& sockets_;
    const bool only_close_;
    const std::vector<Group> groups_;
    std::vector<Draw> draws_;
    std::vector<std::uint64_t> taken_;  // by group, at this point of the search
    std::optional<Pick> best_;
    std::uint32_t steps_ = 0;
};

// Without the requests of --gpus-per-socket, which are picked socket by socket.
std::vector<GresCount> demands_on(const Need& need, const Node& node, const Chosen& chosen) {
    const auto on_sockets = static_cast<std::ptrdiff_t>(need.shape->gpus_per_socket.size());
    std::vector<GresCount> demands(need.gres_per_node.begin() + on_sockets,
                                   need.gres_per_node.end());
    for (std::size_t i = 0; i < chosen.gpus.size(); ++i) {
        demands.push_back({need.gpus[i].name, need.gpus[i].type, chosen.gpus[i]});
    }
    for (GresCount demand : need.shape->gpus_per_task) {
        demand.count *= std::max(1u, chosen.tasks);
        demands.push_back(std::move(demand));
    }
    if (need.exclusive == Exclusive::Node && demands.empty() && on_sockets == 0) {
        for (const GresPool& pool : node.gres)
            demands.push_back({pool.name, pool.type, pool.count});
    }
    return demands;
}

// The cores close to the devices that the job gets, empty if it makes no difference; absent: it
// cannot get them.
std::optional<std::vector<bool>> pick_devices(const Need& need, const Sockets& sockets,
                                              const Chosen& chosen,
                                              std::vector<NodeShare::Devices>& picked) {
    const std::vector<GresCount> demands = demands_on(need, sockets.node, chosen);
    if (demands.empty() && need.shape->gpus_per_socket.empty()) return std::vector<bool>{};
    DevicePicker picker(sockets, need.shape->bind_gpus_to_cores);
    for (const GresCount& demand : need.shape->gpus_per_socket) {
        picker.add_on_sockets(demand, need.shape->sockets_per_node.value_or(1));
    }
    for (const GresCount& demand : demands) picker.add(demand);
    return picker.pick(picked);
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
