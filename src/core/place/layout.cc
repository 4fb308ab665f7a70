#include "core/place/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "base/text.h"
#include "core/cluster.h"
#include "core/place/use.h"

namespace sluice {

namespace {

std::int32_t clamped(std::uint64_t amount) {
    return static_cast<std::int32_t>(
        std::min<std::uint64_t>(amount, std::numeric_limits<std::int32_t>::max() / 4));
}

// By socket: the devices of the pool that are close to that socket only.
std::vector<std::uint64_t> devices_on_sockets(const NodeKind& kind, const GresPool& pool) {
    std::vector<std::uint64_t> counts(kind.sockets);
    for (std::uint32_t slot = 0; slot < pool.cores.size(); ++slot) {
        if (auto socket = kind.socket_of(pool, slot)) ++counts[*socket];
    }
    return counts;
}

// One entry per pool; names with several types get one more for all of them together.
std::vector<NodeKind::Gres> gres_entries(const NodeKind& kind, const std::vector<GresPool>& pools) {
    std::vector<NodeKind::Gres> entries;
    auto has_parts = [](const GresPool& pool) { return !pool.parts.empty(); };
    const bool shares_gpus = std::any_of(pools.begin(), pools.end(), has_parts);
    for (const GresPool& pool : pools) {
        entries.push_back({pool.name, pool.type, pool.count, devices_on_sockets(kind, pool),
                           shares_gpus && (pool.name == "gpu" || has_parts(pool)),
                           pool.no_consume});
    }
    for (std::size_t i = 0; i < pools.size(); ++i) {
        NodeKind::Gres sum{.name = pools[i].name,
                           .type = {},
                           .count = 0,
                           .on_socket = std::vector<std::uint64_t>(kind.sockets)};
        std::size_t types = 0, first = pools.size();
        for (std::size_t j = 0; j < pools.size(); ++j) {
            if (pools[j].name != pools[i].name) continue;
            first = std::min(first, j);
            sum.count += pools[j].count;
            for (std::uint32_t s = 0; s < kind.sockets; ++s)
                sum.on_socket[s] += entries[j].on_socket[s];
            sum.is_shared = entries[j].is_shared;
            sum.no_consume = entries[j].no_consume;
            ++types;
        }
        if (types > 1 && first == i) entries.push_back(std::move(sum));
    }
    return entries;
}

// A partition's MaxCPUsPerNode is planned like a device: so many of the node's CPUs are for its
// jobs.
void add_partition_limits(std::vector<NodeKind::Gres>& entries, const Cluster& cluster,
                          NodeIndex node, const std::vector<std::vector<bool>>& in_partition) {
    for (std::size_t p = 0; p < in_partition.size(); ++p) {
        const PartitionConfig& config = cluster.partitions()[p].config;
        if (!in_partition[p][node.value] || !config.max_cpus_per_node) continue;
        entries.push_back({.name = std::string(NodeKind::kPartitionCpus),
                           .type = config.name,
                           .count = *config.max_cpus_per_node,
                           .on_socket = {}});
    }
}

NodeKind kind_of(const Node& node, const Cluster& cluster,
                 const std::vector<std::vector<bool>>& in_partition) {
    NodeKind kind;
    const NodeConfig& config = node.config;
    kind.features = config.features;
    kind.cpus = config.cpus;
    kind.sockets = std::max(1u, config.sockets);
    kind.cores_per_socket = std::max(1u, config.cores_per_socket);
    kind.threads = cpus_per_core(config);
    kind.tmp_disk = config.tmp_disk;
    kind.gres = gres_entries(kind, node.gres);
    add_partition_limits(kind.gres, cluster, node.index, in_partition);
    kind.total[Amounts::kCpus] = clamped(usable_cpus(node));
    kind.reserved = node.cpu_reserved;
    kind.for_gpus = node.cpu_for_gpus;
    if (!kind.for_gpus.empty()) {
        const auto kept = std::count(kind.for_gpus.begin(), kind.for_gpus.end(), true);
        kind.gres.push_back({.name = std::string(NodeKind::kCpusWithoutGpu),
                             .type = {},
                             .count = usable_cpus(node) - static_cast<std::uint32_t>(kept),
                             .on_socket = {}});
    }
    kind.total[Amounts::kMemory] = clamped(usable_memory(node));
    for (const NodeKind::Gres& entry : kind.gres) {
        if (kind.is_planned(entry)) kind.total[kind.place_of(entry)] = clamped(entry.count);
    }
    return kind;
}

std::string key_of(const NodeKind& kind) {
    std::string key =
        fmt::format("{} {} {} {} {} {}", kind.cpus, kind.sockets, kind.cores_per_socket,
                    kind.threads, kind.tmp_disk, kind.total[Amounts::kMemory]);
    for (std::size_t cpu = 0; cpu < kind.reserved.size(); ++cpu) {
        if (kind.reserved[cpu]) key += fmt::format(" -{}", cpu);
    }
    for (std::size_t cpu = 0; cpu < kind.for_gpus.size(); ++cpu) {
        if (kind.for_gpus[cpu]) key += fmt::format(" g{}", cpu);
    }
    for (const NodeKind::Gres& entry : kind.gres) {
        key += fmt::format(" {}:{}:{}({}){}{}", entry.name, entry.type, entry.count,
                           fmt::join(entry.on_socket, ","), entry.is_shared ? "s" : "",
                           entry.no_consume ? "n" : "");
    }
    return key + "|" + join(kind.features, ",");
}

// Leaves first, then the switches above, in the order of the file.
void add_switches(Layout& layout, const Cluster& cluster) {
    const std::vector<SwitchConfig>& switches = cluster.settings().switches;
    std::map<std::string, std::uint32_t> numbers;
    for (bool leaves : {true, false}) {
        for (const SwitchConfig& config : switches) {
            if (config.switches.empty() != leaves) continue;
            numbers[config.name] = static_cast<std::uint32_t>(layout.switch_names.size());
            layout.switch_names.push_back(config.name);
        }
    }
    std::map<std::uint32_t, std::uint32_t> parents;
    for (const SwitchConfig& config : switches) {
        for (const std::string& below : config.switches) {
            if (numbers.contains(below)) parents[numbers[below]] = numbers[config.name];
        }
    }
    for (const SwitchConfig& config : switches) {
        if (!config.switches.empty()) continue;
        std::uint32_t leaf = numbers[config.name];
        for (const std::string& name : config.nodes) {
            if (auto node = cluster.find_node(name)) layout.leaf_of[node->value] = leaf;
        }
        layout.above.resize(std::max<std::size_t>(layout.above.size(), leaf + 1));
        for (std::uint32_t at = leaf;
             parents.contains(at) && layout.above[leaf].size() < switches.size();) {
            layout.above[leaf].push_back(at = parents[at]);
        }
    }
}

}  // namespace

std::uint32_t cpus_per_core(const NodeConfig& config) {
    const std::uint32_t cores =
        std::max(1u, config.sockets) * std::max(1u, config.cores_per_socket);
    return config.cpus > cores ? std::max(1u, config.threads_per_core) : 1;
}

const NodeKind::Gres* NodeKind::find_gres(const std::string& name, const std::string& type) const {
    const Gres* found = nullptr;
    for (const Gres& entry : gres) {
        if (entry.name != name) continue;
        if (entry.type == type) return &entry;
        if (type.empty() && !found) found = &entry;  // the only type it has
    }
    return found;
}

std::optional<std::uint32_t> NodeKind::socket_of(const GresPool& pool, std::uint32_t slot) const {
    if (slot >= pool.cores.size() || pool.cores[slot].empty()) return {};
    return std::min(pool.cores[slot].front() / cores_per_socket, sockets - 1);
}

bool NodeKind::Gres::has_on_sockets(std::uint64_t each, std::uint32_t sockets) const {
    std::vector<std::uint64_t> there = on_socket;
    std::sort(there.begin(), there.end(), std::greater{});
    there.resize(std::max<std::size_t>(there.size(), sockets));
    std::uint64_t missing = 0, tied = 0;
    for (std::uint32_t s = 0; s < sockets; ++s) missing += each - std::min(each, there[s]);
    for (std::uint64_t devices : there) tied += devices;
    return missing + tied <= count;
}

void NodeKind::add_gres(Amounts& amounts, const std::string& name, const std::string& type,
                        std::uint64_t count) const {
    const Gres* entry = find_gres(name, type);
    if (entry && entry->no_consume) return;
    if (entry && is_planned(*entry)) amounts[place_of(*entry)] += clamped(count);
    if (type.empty()) return;
    const Gres* all = find_gres(name, {});
    if (all && all->type.empty() && is_planned(*all)) amounts[place_of(*all)] += clamped(count);
}

Amounts NodeKind::amounts_of(const NodeShare& share, const std::string& partition) const {
    Amounts amounts;
    amounts[Amounts::kCpus] = clamped(share.cpus.size());
    amounts[Amounts::kMemory] = clamped(share.memory);
    for (const NodeShare::Devices& devices : share.gres)
        add_gres(amounts, devices.name, devices.type, devices.count);
    add_gres(amounts, std::string(kPartitionCpus), partition, share.cpus.size());
    if (for_gpus.empty()) return amounts;
    const auto others = std::count_if(share.cpus.begin(), share.cpus.end(), [&](std::uint32_t cpu) {
        return cpu >= for_gpus.size() || !for_gpus[cpu];
    });
    add_gres(amounts, std::string(kCpusWithoutGpu), {}, static_cast<std::uint64_t>(others));
    return amounts;
}

Layout layout_of(const Cluster& cluster) {
    Layout layout;
    std::map<std::string, std::uint32_t> known;
    layout.kind_of.resize(cluster.node_count());
    layout.leaf_of.assign(cluster.node_count(), Layout::kNoSwitch);
    for (const Partition& partition : cluster.partitions()) {
        std::vector<bool>& members = layout.in_partition.emplace_back(cluster.node_count());
        for (NodeIndex node : partition.nodes) members[node.value] = true;
    }
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        NodeKind kind = kind_of(cluster.node(NodeIndex{i}), cluster, layout.in_partition);
        auto [entry, is_new] =
            known.emplace(key_of(kind), static_cast<std::uint32_t>(layout.kinds.size()));
        if (is_new) layout.kinds.push_back(std::move(kind));
        layout.kind_of[i] = entry->second;
        layout.weight_of.push_back(preference_of(cluster.node(NodeIndex{i})));
    }
    add_switches(layout, cluster);
    return layout;
}

}  // namespace sluice
