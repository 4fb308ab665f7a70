#include "core/place/use.h"

#include <algorithm>

#include "base/text.h"
#include "core/place/pools.h"

namespace sluice {

namespace {

bool serves(const GresPool& pool, const GresCount& demand) {
    return pool.name == demand.name && (demand.type.empty() || demand.type == pool.type);
}

void take_cpus(Node& node, const Job& job, const NodeShare& share) {
    for (std::uint32_t cpu : share.cpus) {
        CHECK(cpu < node.cpu_used.size() &&
              (node.cpu_used[cpu] == 0 || job.run.allocation->sharers > 1));
        if (node.cpu_used[cpu]++ == 0) ++node.cpus_used;
    }
}

void give_back_cpus(Node& node, const NodeShare& share) {
    for (std::uint32_t cpu : share.cpus) {
        CHECK(cpu < node.cpu_used.size() && node.cpu_used[cpu] > 0);
        if (--node.cpu_used[cpu] == 0) --node.cpus_used;
    }
}

void set_use(Node& node, const Job& job, const NodeShare& share, bool taken) {
    if (!job.run.cpus_lent && taken) take_cpus(node, job, share);
    if (!job.run.cpus_lent && !taken) give_back_cpus(node, share);
    node.memory_used += taken ? share.memory : -share.memory;
    set_gres(node, share, taken);
}

}  // namespace

void configure_node(Node& node, const NodeConfig& config, const Settings& settings, Time now) {
    bool is_new = node.config.name.empty();
    node.config = config;
    keep_changes_by_hand(node);
    if (node.cpu_used.size() < config.cpus) node.cpu_used.resize(config.cpus, 0);
    node.cpu_reserved = system_cpus(config, config.core_spec_count);
    if (!config.cpu_spec_list.empty()) {
        node.cpu_reserved.assign(config.cpus, false);
        for (std::uint32_t cpu : config.cpu_spec_list) node.cpu_reserved[cpu] = true;
    }
    configure_gres(node, settings);
    if (!is_new) return;
    node.last_busy = now;
    auto wants = [&](std::string_view word) {
        return config.state.find(word) != std::string::npos;
    };
    if (wants("DRAIN")) node.admin_flags |= kNodeDrain;
    if (wants("FAIL")) node.admin_flags |= kNodeFail;
    node.down = wants("DOWN");
    if (wants("CLOUD") && settings.power.enabled) node.power.state = PowerState::Down;
    node.reason = config.reason;
    for (const auto& [name, reason] : settings.down_nodes) {
        if (name != config.name) continue;
        node.down = true;
        node.reason = reason;
    }
    if (!node.reason.empty()) node.reason_time = now;
    node.comment = config.comment;
}

void keep_changes_by_hand(Node& node) {
    if (node.weight_by_hand) node.config.weight = *node.weight_by_hand;
    if (node.features_by_hand) node.config.features = *node.features_by_hand;
    if (!node.gres_by_hand) return;
    node.config.gres.clear();
    if (node.gres_by_hand->empty()) return;
    if (auto gres = parse_gres(*node.gres_by_hand)) node.config.gres = *std::move(gres);
}

std::vector<bool> system_cpus(const NodeConfig& config, std::uint32_t cores) {
    std::vector<bool> reserved(config.cpus, false);
    std::uint32_t sockets = std::max(1u, config.sockets),
                  each = std::max(1u, config.cores_per_socket);
    std::uint32_t threads = std::max(1u, config.cpus / (sockets * each));
    for (std::uint32_t i = 0; i < std::min(cores, sockets * each); ++i) {
        std::uint32_t core = (sockets - 1 - i % sockets) * each + (each - 1 - i / sockets);
        for (std::uint32_t cpu = core * threads; cpu < std::min((core + 1) * threads, config.cpus);
             ++cpu) {
            reserved[cpu] = true;
        }
    }
    return reserved;
}

std::vector<bool> system_threads(const NodeConfig& config, std::uint32_t threads) {
    const std::uint32_t each =
        std::max(1u, config.cpus / std::max(1u, config.sockets * config.cores_per_socket));
    std::vector<bool> reserved = system_cpus(config, threads / each);
    std::uint32_t left = threads % each;
    if (left == 0) return reserved;
    const std::vector<bool> next = system_cpus(config, threads / each + 1);
    for (std::uint32_t cpu = config.cpus; cpu-- > 0 && left > 0;) {
        if (reserved[cpu] || !next[cpu]) continue;
        reserved[cpu] = true;
        --left;
    }
    return reserved;
}

std::uint32_t usable_cpus(const Node& node) {
    auto reserved = std::count(node.cpu_reserved.begin(), node.cpu_reserved.end(), true);
    return node.config.cpus - static_cast<std::uint32_t>(reserved);
}

Megabytes usable_memory(const Node& node) {
    return node.config.real_memory - std::min(node.config.real_memory, node.config.mem_spec_limit);
}

Exclusive exclusive_in(const Job& job, const PartitionConfig& partition) {
    if (partition.oversubscribe.rule == OverSubscription::Rule::Force)
        return Exclusive::No;  // all jobs share
    if (job.request->shape.exclusive != Exclusive::No) return job.request->shape.exclusive;
    const Shape& shape = job.request->shape;
    if (shape.core_spec || shape.thread_spec)
        return Exclusive::Node;  // Compat: for whole nodes only
    if (partition.exclusive == PartitionExclusive::Node) return Exclusive::Node;
    return partition.exclusive == PartitionExclusive::User ? Exclusive::User : Exclusive::No;
}

std::uint8_t sharers_in(const Job& job, const PartitionConfig& partition) {
    using Rule = OverSubscription::Rule;
    const OverSubscription& shared = partition.oversubscribe;
    const bool shares = shared.rule == Rule::Force ||
                        (shared.rule == Rule::Yes && job.request->shape.oversubscribe);
    return shares ? static_cast<std::uint8_t>(std::min<std::uint16_t>(shared.jobs, 255)) : 1;
}

void take_share(Cluster& cluster, const Job& job, const NodeShare& share, Time now) {
    static const PartitionConfig
        kNone;  // a copy of a large partition for each node would be costly
    const Partition* partition = cluster.find_partition(job.partition);
    Exclusive exclusive = exclusive_in(job, partition ? partition->config : kNone);
    const Edit<Node> node = cluster.edit_node(share.node);
    set_use(*node, job, share, true);
    node->jobs.push_back(job.id);
    node->last_busy = now;
    if (exclusive == Exclusive::Node && !job.run.cpus_lent) node->exclusive = true;
    if (exclusive != Exclusive::User) return;
    node->exclusive_user = job.user;
    cluster.now_depends_on_users();
    cluster.want_pass();
}

void give_back_share(Cluster& cluster, const Job& job, const NodeShare& share, Time now) {
    const Edit<Node> node = cluster.edit_node(share.node);
    set_use(*node, job, share, false);
    std::erase(node->jobs, job.id);
    node->last_busy = now;
    if (node->cpus_used == 0)
        node->exclusive = false;  // an exclusive job had all CPUs; other jobs here are suspended
    if (node->jobs.empty()) node->exclusive_user.reset();
    cluster.want_pass();
}

void lend_cpus(Cluster& cluster, const Job& job, const NodeShare& share) {
    const Edit<Node> node = cluster.edit_node(share.node);
    give_back_cpus(*node, share);
    node->exclusive = false;  // it can only have been this job's
    cluster.want_pass();
    CHECK(std::find(node->jobs.begin(), node->jobs.end(), job.id) != node->jobs.end());
}

bool may_reclaim_cpus(const Cluster& cluster, const Job& job, const NodeShare& share) {
    const Partition* partition = cluster.find_partition(job.partition);
    const Node& node = cluster.node(share.node);
    if (node.exclusive) return false;
    if (exclusive_in(job, partition ? partition->config : PartitionConfig{}) == Exclusive::Node &&
        node.cpus_used > 0) {
        return false;
    }
    return std::none_of(share.cpus.begin(), share.cpus.end(),
                        [&](std::uint32_t cpu) { return node.cpu_used[cpu] > 0; });
}

void reclaim_cpus(Cluster& cluster, const Job& job, const NodeShare& share) {
    const Partition* partition = cluster.find_partition(job.partition);
    const Edit<Node> node = cluster.edit_node(share.node);
    take_cpus(*node, job, share);
    if (exclusive_in(job, partition ? partition->config : PartitionConfig{}) == Exclusive::Node)
        node->exclusive = true;
}

bool has_alternating(const Cluster& cluster, const Node& node) {
    return std::any_of(node.jobs.begin(), node.jobs.end(), [&](JobId id) {
        const Job& job = cluster.job(id);
        return job.run.awaits_cpus || job.run.allocation->sharers > 1;
    });
}

std::vector<std::uint8_t> cpu_holders(const Cluster& cluster, const Node& node,
                                      std::uint8_t sharers) {
    std::vector<std::uint8_t> holders(node.cpu_used.size(), 0), most(node.cpu_used.size(), sharers);
    for (JobId id : node.jobs) {
        const Job& job = cluster.job(id);
        if (job.run.cpus_lent && !job.run.awaits_cpus) continue;
        for (std::uint32_t cpu : job.run.allocation->find(node.index)->cpus) {
            ++holders[cpu];
            most[cpu] = std::min(most[cpu], job.run.allocation->sharers);
        }
    }
    for (std::size_t cpu = 0; cpu < holders.size(); ++cpu) {
        if (holders[cpu] > 0 && holders[cpu] >= most[cpu]) holders[cpu] = kNobodyElse;
    }
    return holders;
}

std::uint64_t gres_count(const Node& node, const GresCount& demand) {
    std::uint64_t sum = 0;
    for (const GresPool& pool : node.gres) {
        if (serves(pool, demand)) sum += pool.count;
    }
    return sum;
}

std::uint64_t gres_free(const Node& node, const GresCount& demand) {
    std::uint64_t sum = 0;
    for (const GresPool& pool : node.gres) {
        if (serves(pool, demand)) sum += count_free(pool);
    }
    return sum;
}

}  // namespace sluice
