#include "core/place/pick_devices.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/place/pools.h"
#include "core/place/use.h"
#include "model/devices.h"

namespace sluice {

namespace {

// Free devices of one pool that are close to the same cores, and so are equivalent; or the free
// parts of one GPU.
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

// The GPU with the fewest free parts that suffice comes first, so that whole GPUs stay free; with
// LL_SHARED_GRES the one with the largest free portion.
std::vector<Group> groups_of_parts(const Sockets& sockets, bool spreads) {
    std::vector<Group> groups;
    for (const GresPool& pool : sockets.node.gres) {
        for (std::uint32_t slot = 0; slot < pool.parts.size(); ++slot) {
            const std::uint64_t free = free_parts(sockets.node, pool, slot);
            if (free == 0) continue;
            Group& group = groups.emplace_back(group_of(sockets, pool, slot));
            group.slots = {slot};
            group.free = free;
        }
    }
    std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
        if (!spreads) return a.free < b.free;
        const std::uint64_t all_a = a.pool->parts[a.slots.front()].count;
        const std::uint64_t all_b = b.pool->parts[b.slots.front()].count;
        return a.free * all_b > b.free * all_a;
    });
    return groups;
}

// Groups with free CPUs close to them first.
std::vector<Group> groups_on(const Sockets& sockets, bool spreads_parts) {
    std::vector<Group> groups = groups_of_parts(sockets, spreads_parts);
    for (const GresPool& pool : sockets.node.gres) {
        if (!pool.has_devices && pool.parts.empty()) {
            groups.push_back(
                {.pool = &pool, .free = pool.count - std::min(pool.count, pool.used_count)});
        }
        for (std::uint32_t slot = 0; slot < pool.used.size(); ++slot) {
            if (!is_free(sockets.node, pool, slot)) continue;
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

// So many of the slots: those with the most connections between them (Links=), else the first. The
// set grows from each slot in turn by the one that is connected best.
std::vector<std::uint32_t> best_connected(const GresPool& pool,
                                          const std::vector<std::uint32_t>& slots,
                                          std::uint64_t count) {
    const std::size_t wanted = std::min<std::size_t>(count, slots.size());
    std::vector<std::uint32_t> best(slots.begin(),
                                    slots.begin() + static_cast<std::ptrdiff_t>(wanted));
    if (pool.links.empty() || wanted < 2 || wanted == slots.size()) return best;
    auto links_between = [&](std::uint32_t slot, const std::vector<std::uint32_t>& others) {
        std::int64_t sum = 0;
        for (std::uint32_t other : others) {
            const std::size_t at = pool.first_index + other;
            if (at < pool.links[slot].size()) sum += std::max(0, pool.links[slot][at]);
        }
        return sum;
    };
    std::int64_t most = -1;
    for (std::uint32_t first : slots) {
        std::vector<std::uint32_t> set{first}, rest = slots;
        std::erase(rest, first);
        std::int64_t links = 0;
        while (set.size() < wanted) {
            auto next =
                std::max_element(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
                    return links_between(a, set) < links_between(b, set);
                });
            links += links_between(*next, set);
            set.push_back(*next);
            rest.erase(next);
        }
        if (links > most) best = set;
        most = std::max(most, links);
    }
    return best;
}

// Chooses devices: of all sets of groups that satisfy the request the best one.
class DevicePicker {
public:
    DevicePicker(const Sockets& sockets, const Need& need)
        : sockets_(sockets),
          only_close_(need.binds_gpus),
          parts_of_several_(need.parts_of_several_gpus),
          groups_(groups_on(sockets, need.spreads_parts)),
          taken_(groups_.size()) {}

    void add(const GresCount& demand) {
        Draw& draw = draws_.emplace_back(Draw{{}, demand.count});
        draw.from_one = is_part_of_gpu(demand.name) && !parts_of_several_;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (serves(g, demand)) draw.groups.push_back(g);
        }
    }

    // Parts for each of several tasks, each of a GPU of its own.
    void add_apart(const GresCount& each, std::uint32_t tasks) {
        for (std::uint32_t task = 0; task < tasks; ++task) {
            add(each);
            draws_.back().from_one = draws_.back().alone = true;
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
        bool from_one = false;  // parts of a GPU: all of the same one
        bool alone = false;     // of a GPU of which no other draw takes parts
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
        const std::uint64_t most = draw.from_one ? 1 : draw.count;
        if (at < draw.groups.size() && chosen.size() < most) {
            std::vector<std::size_t> more = chosen;
            more.push_back(draw.groups[at]);
            try_groups(d, at + 1, std::move(more));
            return try_groups(d, at + 1, std::move(chosen));
        }
        const std::vector<std::uint64_t> before = taken_;
        if (take(chosen, draw)) try_groups(d + 1, 0, {});
        taken_ = before;
    }

    // One of each group, then as many as there are from the first group on.
    bool take(const std::vector<std::size_t>& chosen, const Draw& draw) {
        std::uint64_t count = draw.count;
        for (std::size_t g : chosen) {
            if (taken_[g] == groups_[g].free || (draw.alone && taken_[g] > 0)) return false;
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
        const GresPool& pool = *group.pool;
        auto devices =
            std::find_if(picked.begin(), picked.end(), [&](const NodeShare::Devices& each) {
                return each.name == pool.name && each.type == pool.type;
            });
        if (devices == picked.end())
            devices = picked.insert(devices, {pool.name, pool.type, {}, 0, {}});
        if (!pool.no_consume) devices->count += count;
        std::vector<std::uint32_t>& indexes = devices->indexes;
        if (!pool.parts.empty()) {
            add_part(*devices, pool.first_index + group.slots.front(),
                     static_cast<std::uint32_t>(count));
            return;
        }
        for (std::uint32_t slot : best_connected(pool, group.slots, count))
            indexes.push_back(pool.first_index + slot);
        std::sort(indexes.begin(), indexes.end());
    }

    const Sockets& sockets_;
    const bool only_close_;
    const bool parts_of_several_;
    const std::vector<Group> groups_;
    std::vector<Draw> draws_;
    std::vector<std::uint64_t> taken_;  // by group, at this point of the search
    std::optional<Pick> best_;
    std::uint32_t steps_ = 0;
};

bool asks_for_parts(const std::vector<GresCount>& demands) {
    return std::any_of(demands.begin(), demands.end(),
                       [](const GresCount& demand) { return is_part_of_gpu(demand.name); });
}

// Whether each task gets it from a GPU of its own (ONE_TASK_PER_SHARING_GRES).
bool is_apart(const Need& need, const GresCount& demand) {
    return need.one_task_per_gpu && is_part_of_gpu(demand.name);
}

// Without the requests of --gpus-per-socket and of tasks that are kept apart, which are picked one
// by one.
std::vector<GresCount> demands_on(const Need& need, const Node& node, const Chosen& chosen) {
    const auto on_sockets = static_cast<std::ptrdiff_t>(need.shape->gpus_per_socket.size());
    std::vector<GresCount> demands(need.gres_per_node.begin() + on_sockets,
                                   need.gres_per_node.end());
    for (std::size_t i = 0; i < chosen.gpus.size(); ++i) {
        demands.push_back({need.gpus[i].name, need.gpus[i].type, chosen.gpus[i]});
    }
    for (GresCount demand : need.shape->gpus_per_task) {
        if (is_apart(need, demand)) continue;
        demand.count *= std::max(1u, chosen.tasks);
        demands.push_back(std::move(demand));
    }
    // Compat: all that is free on the node, even if the job asks for less; but no parts of GPUs.
    if (need.exclusive == Exclusive::Node && on_sockets == 0 && !asks_for_parts(demands)) {
        auto is_given = [&](const GresPool& pool) {
            return pool.parts.empty() && !pool.only_if_asked;
        };
        std::erase_if(demands, [&](const GresCount& demand) {
            return gres_free(node, demand) >= demand.count &&
                   std::any_of(node.gres.begin(), node.gres.end(), [&](const GresPool& pool) {
                       return pool.name == demand.name && is_given(pool);
                   });
        });
        for (const GresPool& pool : node.gres) {
            if (is_given(pool)) demands.push_back({pool.name, pool.type, count_free(pool)});
        }
    }
    return demands;
}

}  // namespace

std::optional<std::vector<bool>> pick_devices(const Need& need, const Sockets& sockets,
                                              const Chosen& chosen,
                                              std::vector<NodeShare::Devices>& picked) {
    const std::vector<GresCount> demands = demands_on(need, sockets.node, chosen);
    const Shape& shape = *need.shape;
    if (demands.empty() && shape.gpus_per_socket.empty() && shape.gpus_per_task.empty())
        return std::vector<bool>{};
    DevicePicker picker(sockets, need);
    for (const GresCount& demand : shape.gpus_per_socket)
        picker.add_on_sockets(demand, shape.sockets_per_node.value_or(1));
    for (const GresCount& demand : shape.gpus_per_task) {
        if (is_apart(need, demand)) picker.add_apart(demand, chosen.tasks);
    }
    for (const GresCount& demand : demands) picker.add(demand);
    return picker.pick(picked);
}

}  // namespace sluice
