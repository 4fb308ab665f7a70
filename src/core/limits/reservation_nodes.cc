#include "core/limits/reservation_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/limits/first_cores.h"
#include "core/limits/reservations.h"
#include "core/place/use.h"
#include "core/schedule/planner.h"
#include "model/errors.h"
#include "model/features.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

Result<FeatureExpression> features_of(const Cluster& cluster, const std::string& text) {
    FeatureExpression features = TRY(FeatureExpression::parse(text));
    if (!features.same.empty()) {
        return Error{ErrorCode::NotSupported, fmt::format("Features={} of a reservation", text)};
    }
    for (const std::string& name : features.names()) {
        bool known = false;
        for (std::uint32_t i = 0; i < cluster.node_count() && !known; ++i) {
            const std::vector<std::string>& has = cluster.node(NodeIndex{i}).config.features;
            known = std::find(has.begin(), has.end(), name) != has.end();
        }
        if (!known)
            return Error{ErrorCode::InvalidFeature,
                         fmt::format("no node has the feature {}", name)};
    }
    return features;
}

// ---- what is left of a node

// Cores of jobs that are expected to run beyond the start of the reservation.
std::uint32_t cores_busy(const Cluster& cluster, Time now, NodeIndex index,
                         const Reservation& draft) {
    if (draft.has(kResvIgnoreJobs)) return 0;
    const Node& node = cluster.node(index);
    std::uint32_t threads = node.config.cpus / std::max(1u, cores_in(node.config));
    std::uint32_t cpus = 0;
    for (JobId id : node.jobs) {
        const Job& job = cluster.job(id);
        // Jobs in a reservation of cores are counted with that reservation.
        const Reservation* its =
            job.run.reservation.empty() ? nullptr : find_reservation(cluster, job.run.reservation);
        if (job.run.reservation == draft.name || (its && !its->cores.empty())) continue;
        const Time needed = draft.start + draft.max_start_delay.value_or(Seconds{0});
        if (expected_end(cluster, job, now) <= std::max(needed, now + Seconds{1})) continue;
        for (const NodeShare& share : job.run.allocation->nodes) {
            if (share.node == index) cpus += static_cast<std::uint32_t>(share.cpus.size());
        }
        if (node.exclusive) cpus = node.config.cpus;
    }
    return (cpus + threads - 1) / std::max(1u, threads);
}

std::uint32_t cores_reserved(const Cluster& cluster, NodeIndex index, const Reservation& draft) {
    if (draft.has(kResvMaint | kResvOverlap)) return 0;
    const NodeConfig& config = cluster.node(index).config;
    std::uint32_t cores = 0;
    for (const Reservation& other : cluster.reservations()) {
        if (other.name == draft.name || other.has(kResvMaint | kResvOverlap) ||
            !other.has_node(index))
            continue;
        if (meet_in_time(draft, other)) cores += other.cores_of(config.name, cores_in(config));
    }
    return cores;
}

std::uint32_t cores_left(const Cluster& cluster, Time now, NodeIndex index,
                         const Reservation& draft) {
    std::uint32_t all = cores_in(cluster.node(index).config);
    std::uint32_t gone =
        cores_busy(cluster, now, index, draft) + cores_reserved(cluster, index, draft);
    return all - std::min(all, gone);
}

bool is_out_of_service(const Node& node) {
    bool returns = node.reboot && node.reboot->next == AfterReboot::Resume;
    return node.removed ||
           (!returns && (node.down || (node.admin_flags & (kNodeDrain | kNodeFail)) != 0));
}

// ---- named nodes

Result<std::vector<NodeIndex>> named_nodes(const Cluster& cluster,
                                           const ListChange<std::string>& change,
                                           const Reservation& draft) {
    using Verb = ListChange<std::string>::Verb;
    std::set<NodeIndex> nodes;
    if (change.verb != Verb::Replace) nodes.insert(draft.nodes.begin(), draft.nodes.end());
    for (const std::string& name : change.items) {
        auto node = cluster.find_node(name);
        if (!node || cluster.node(*node).removed) return Error{ErrorCode::InvalidNodeName, name};
        if (change.verb == Verb::Remove)
            nodes.erase(*node);
        else
            nodes.insert(*node);
    }
    if (nodes.empty()) return Error{ErrorCode::InvalidNodeCount, "no node would be left"};
    return std::vector<NodeIndex>(nodes.begin(), nodes.end());
}

std::vector<NodeIndex> all_nodes(const Cluster& cluster) {
    std::vector<NodeIndex> nodes;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        if (!cluster.node(NodeIndex{i}).removed) nodes.push_back(NodeIndex{i});
    }
    return nodes;
}

Result<void> take_named(const Cluster& cluster, const ReservationChange& change,
                        Reservation& draft) {
    bool all = change.nodes->items == std::vector<std::string>{"ALL"};
    const Partition* partition = cluster.find_partition(draft.partition);
    if (draft.has(kResvReplace | kResvReplaceDown)) return Error{ErrorCode::InvalidNodeName, {}};
    if (draft.has(kResvPartNodes)) {
        if (!all || !partition) {
            return Error{ErrorCode::InvalidReservation,
                         "PART_NODES needs PartitionName and Nodes=ALL"};
        }
        draft.nodes = partition->nodes;
        std::sort(draft.nodes.begin(), draft.nodes.end());
    } else {
        draft.nodes = all ? all_nodes(cluster) : TRY(named_nodes(cluster, *change.nodes, draft));
        draft.flags &= ~kResvAllNodes;
        if (all) draft.flags |= kResvAllNodes;
    }
    draft.flags |= kResvSpecNodes;
    FeatureExpression features = TRY(features_of(cluster, draft.features));
    for (NodeIndex node : draft.nodes) {
        const NodeConfig& config = cluster.node(node).config;
        if (!features.matches(config.features)) {
            return Error{ErrorCode::InvalidFeature,
                         fmt::format("node {} is not {}", config.name, draft.features)};
        }
    }
    return {};
}

// ---- nodes that are chosen here

// How much is asked for; a node may serve several parts of it.
struct Wanted {
    std::uint32_t nodes = 0;
    std::uint32_t cores = 0;  // 0: whole nodes
    std::vector<GresCount> gres;
    std::vector<std::uint32_t> first_cores = {};  // FIRST_CORES: of each node
};

std::uint64_t gres_in(const Cluster& cluster, const std::vector<NodeIndex>& nodes,
                      const GresCount& demand) {
    std::uint64_t sum = 0;
    for (NodeIndex node : nodes) sum += gres_count(cluster.node(node), demand);
    return sum;
}

// How many cores the next of `left_nodes` nodes gives: its part of those still wanted.
std::uint32_t share_of(std::uint32_t cores, std::uint32_t left_nodes) {
    return left_nodes == 0 ? cores : (cores + left_nodes - 1) / left_nodes;
}

class Chooser {
public:
    Chooser(const Cluster& cluster, Time now, Reservation& draft, Wanted wanted)
        : cluster_(cluster),
          now_(now),
          draft_(draft),
          wanted_(std::move(wanted)),
          cores_(wanted_.cores) {}

    // Nodes that it has already first, then by weight.
    Result<void> choose(const FeatureExpression& features, const Partition& partition) {
        std::vector<NodeIndex> candidates = draft_.nodes;
        for (NodeIndex node : partition.nodes) {
            if (!draft_.has_node(node)) candidates.push_back(node);
        }
        draft_.nodes.clear();
        draft_.cores.clear();
        for (const FeatureExpression::Counted& counted : features.counted) {
            std::size_t before = draft_.nodes.size();
            for (NodeIndex node : candidates) {
                if (draft_.nodes.size() - before == counted.count) break;
                if (matches(counted.choice, cluster_.node(node).config.features)) try_node(node);
            }
            if (draft_.nodes.size() - before < counted.count) return shortage(features, candidates);
        }
        for (NodeIndex node : candidates) {
            if (is_enough()) break;
            if (features.matches(cluster_.node(node).config.features)) try_node(node);
        }
        if (!is_enough()) return shortage(features, candidates);
        std::sort(draft_.nodes.begin(), draft_.nodes.end());
        return {};
    }

private:
    bool is_enough() const {
        if (draft_.nodes.size() < wanted_.nodes || cores_ > 0) return false;
        return std::all_of(wanted_.gres.begin(), wanted_.gres.end(), [&](const GresCount& demand) {
            return gres_in(cluster_, draft_.nodes, demand) >= demand.count;
        });
    }

    void try_node(NodeIndex node) {
        const Node& record = cluster_.node(node);
        bool chosen =
            std::find(draft_.nodes.begin(), draft_.nodes.end(), node) != draft_.nodes.end();
        if (chosen || !may_take_jobs(record) || !serves_gres(record)) return;
        std::uint32_t all = cores_in(record.config),
                      left = cores_left(cluster_, now_, node, draft_);
        if (wanted_.cores == 0) {
            if (left == all) draft_.nodes.push_back(node);
            return;
        }
        auto nodes_left = wanted_.nodes -
                          std::min(wanted_.nodes, static_cast<std::uint32_t>(draft_.nodes.size()));
        std::uint32_t part = std::min(share_of(cores_, nodes_left), wanted_.nodes > 0 ? all : left);
        if (!wanted_.first_cores.empty()) {
            if (draft_.nodes.size() >= wanted_.first_cores.size()) return;
            part = wanted_.first_cores[draft_.nodes.size()];
            if (!first_cores_are_free(cluster_, now_, node, draft_, part)) return;
        }
        if (part == 0 || part > left) return;
        cores_ -= part;
        draft_.nodes.push_back(node);
        draft_.cores.push_back({record.config.name, part});
    }

    // Whether the node has any of the gres that are still wanted.
    bool serves_gres(const Node& node) const {
        return wanted_.gres.empty() ||
               std::any_of(wanted_.gres.begin(), wanted_.gres.end(), [&](const GresCount& demand) {
                   return gres_count(node, demand) > 0 &&
                          gres_in(cluster_, draft_.nodes, demand) < demand.count;
               });
    }

    // The error for too few nodes: whether it is never possible, or not now.
    Error shortage(const FeatureExpression& features,
                   const std::vector<NodeIndex>& candidates) const {
        std::vector<NodeIndex> possible;
        for (NodeIndex node : candidates) {
            if (features.matches(cluster_.node(node).config.features)) possible.push_back(node);
        }
        bool ever = possible.size() >= std::max(wanted_.nodes, features.nodes_min());
        for (const GresCount& demand : wanted_.gres)
            ever = ever && gres_in(cluster_, possible, demand) >= demand.count;
        return Error{ever ? ErrorCode::NodesBusy : ErrorCode::NodeConfigUnavailable, {}};
    }

    const Cluster& cluster_;
    Time now_;
    Reservation& draft_;
    Wanted wanted_;
    std::uint32_t cores_;  // still wanted
};

Result<void> choose_nodes(const Cluster& cluster, Time now, Wanted wanted, Reservation& draft) {
    const Partition* partition = draft.partition.empty() ? cluster.default_partition()
                                                         : cluster.find_partition(draft.partition);
    if (!partition) return Error{ErrorCode::InvalidPartition, {}};
    draft.partition = partition->config.name;
    FeatureExpression features = TRY(features_of(cluster, draft.features));
    wanted.nodes = std::max(wanted.nodes, features.nodes_min());
    TRY(Chooser(cluster, now, draft, std::move(wanted)).choose(features, *partition));
    draft.flags &= ~(kResvSpecNodes | kResvAllNodes);
    return {};
}

// ---- the whole change

// CoreCnt=2,4 with Nodes=: one count for each node, in their order.
Result<void> take_cores_of_named(const Cluster& cluster, const std::vector<std::uint32_t>& counts,
                                 Reservation& draft) {
    if (counts.size() != draft.nodes.size()) return Error{ErrorCode::ReservationCoreCounts, {}};
    if (draft.partition.empty() && cluster.default_partition()) {
        draft.partition =
            cluster.default_partition()->config.name;  // Compat: whichever its nodes are in
    }
    draft.cores.clear();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const NodeConfig& config = cluster.node(draft.nodes[i]).config;
        if (counts[i] == 0 || counts[i] > cores_in(config)) return Error{ErrorCode::NodesBusy, {}};
        draft.cores.push_back({config.name, counts[i]});
    }
    return {};
}

Result<void> check_free(const Cluster& cluster, Time now, const Reservation* before,
                        const Reservation& draft) {
    for (NodeIndex node : draft.nodes) {
        const NodeConfig& config = cluster.node(node).config;
        std::uint32_t all = cores_in(config), own = draft.cores_of(config.name, all);
        if (cores_reserved(cluster, node, draft) + own > all)
            return Error{ErrorCode::ReservationOverlap, {}};
        bool is_new = !before || !before->has_node(node) || draft.start < before->start;
        if (is_new && cores_left(cluster, now, node, draft) < own)
            return Error{ErrorCode::NodesBusy, {}};
        bool first = draft.has(kResvFirstCores) && !draft.cores.empty();
        if (is_new && first && !first_cores_are_free(cluster, now, node, draft, own))
            return Error{ErrorCode::NodesBusy, {}};
    }
    return {};
}

void write_names(const Cluster& cluster, Reservation& draft) {
    std::vector<std::string> names;
    for (NodeIndex node : draft.nodes) names.push_back(cluster.node(node).config.name);
    draft.node_names = Hostlist(names).to_string();
}

// What is to be chosen; nothing if nodes were named.
Result<Wanted> wanted_of(const ReservationChange& change, const Reservation* before,
                         const Partition* partition, const Reservation& draft) {
    Wanted wanted{.nodes = change.node_count.value_or(0), .cores = 0, .gres = change.gres};
    if (draft.has(kResvFirstCores) && !change.core_counts.empty()) {
        // Compat: a list of counts gives the number of nodes, whatever NodeCnt says; one number is
        // for each node.
        wanted.first_cores = change.core_counts;
        if (wanted.first_cores.size() == 1)
            wanted.first_cores.resize(std::max(1u, wanted.nodes), change.core_counts[0]);
        wanted.nodes = static_cast<std::uint32_t>(wanted.first_cores.size());
        for (std::uint32_t cores : wanted.first_cores) {
            if (cores == 0) return Error{ErrorCode::NodesBusy, {}};
            wanted.cores += cores;
        }
        return wanted;
    }
    if (change.core_counts.size() > 1) return Error{ErrorCode::ReservationCoreCounts, {}};
    if (!change.core_counts.empty()) {
        wanted.cores = change.core_counts.front();
        if (wanted.cores == 0) return Error{ErrorCode::NodesBusy, {}};
    }
    bool has_amount = change.node_count || wanted.cores > 0 || !wanted.gres.empty();
    if (!has_amount && change.nodes) wanted.nodes = static_cast<std::uint32_t>(draft.nodes.size());
    if (!has_amount && !before && partition && !draft.has(kResvAnyNodes)) {
        wanted.nodes = static_cast<std::uint32_t>(partition->nodes.size());
    }
    return wanted;
}

}  // namespace

std::uint32_t cores_in(const NodeConfig& config) {
    return config.cpus / std::max(1u, config.threads_per_core);
}

Result<void> change_nodes(const Cluster& cluster, Time now, const ReservationChange& change,
                          const Reservation* before, Reservation& draft) {
    bool resized = change.nodes || change.node_count || !change.gres.empty();
    if (before && (!change.core_counts.empty() || (resized && !before->cores.empty()))) {
        return Error{ErrorCode::ReservationCoresFixed, {}};
    }
    if (change.partition) draft.partition = *change.partition;
    if (change.features) draft.features = *change.features;
    if (!change.gres.empty()) draft.gres = change.gres;
    const Partition* partition = cluster.find_partition(draft.partition);
    if (!draft.partition.empty() && !partition) return Error{ErrorCode::InvalidPartition, {}};
    TRY(features_of(cluster, draft.features));
    if (change.node_count == 0u) return Error{ErrorCode::InvalidNodeCount, "NodeCnt=0"};

    bool named = change.nodes && !change.nodes->items.empty();
    if (named) TRY(take_named(cluster, change, draft));
    if (named && !change.core_counts.empty())
        TRY(take_cores_of_named(cluster, change.core_counts, draft));
    if (named && change.node_count && draft.nodes.size() > *change.node_count)
        draft.nodes.resize(*change.node_count);
    bool too_few = named && change.node_count && draft.nodes.size() < *change.node_count;
    Wanted wanted;
    if (!named) wanted = TRY(wanted_of(change, before, partition, draft));
    if (too_few) wanted.nodes = *change.node_count;
    if (wanted.nodes > 0 || wanted.cores > 0 || !wanted.gres.empty()) {
        TRY(choose_nodes(cluster, now, std::move(wanted), draft));
    }
    if (draft.nodes.empty() && (draft.licenses.empty() || !draft.has(kResvAnyNodes))) {
        return Error{ErrorCode::InvalidNodeName, {}};
    }
    TRY(check_free(cluster, now, before, draft));
    write_names(cluster, draft);
    return {};
}

std::vector<NodeIndex> nodes_to_replace(const Cluster& cluster, const Reservation& reservation) {
    std::vector<NodeIndex> found;
    bool fixed =
        reservation.has(kResvSpecNodes | kResvAllNodes | kResvPartNodes | kResvStaticAlloc);
    if (fixed || !reservation.cores.empty()) return found;
    for (NodeIndex index : reservation.nodes) {
        const Node& node = cluster.node(index);
        bool in_use = reservation.has(kResvReplace) && !node.jobs.empty();
        if (in_use || is_out_of_service(node)) found.push_back(index);
    }
    return found;
}

void replace_lost_nodes(Cluster& cluster, Time now) {
    std::vector<Reservation> all = cluster.reservations();  // a copy: they change in the loop
    for (Reservation& each : all) {
        std::vector<NodeIndex> lost = nodes_to_replace(cluster, each);
        const Partition* partition = cluster.find_partition(each.partition);
        Result<FeatureExpression> features = FeatureExpression::parse(each.features);
        if (lost.empty() || !partition || !features || !features->counted.empty()) continue;
        bool changed = false;
        for (NodeIndex candidate : partition->nodes) {
            const Node& node = cluster.node(candidate);
            bool idle = may_take_jobs(node) && node.jobs.empty() && !each.has_node(candidate);
            if (lost.empty() || !idle || !features->matches(node.config.features)) continue;
            if (cores_left(cluster, now, candidate, each) < cores_in(node.config)) continue;
            std::erase(each.nodes, lost.back());
            lost.pop_back();
            each.nodes.insert(std::lower_bound(each.nodes.begin(), each.nodes.end(), candidate),
                              candidate);
            changed = true;
        }
        if (!changed) continue;
        write_names(cluster, each);
        cluster.put_reservation(each);
    }
}

}  // namespace sluice
