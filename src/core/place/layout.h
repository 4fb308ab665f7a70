// core/place/layout.h
//
// The cluster as placement sees it: equal nodes form a kind, so that what a request takes and
// whether it may run at all is computed once per kind and not once per node. Rebuilt when the
// configuration, features or devices change; what is in use is not part of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/place/amounts.h"
#include "model/node.h"

namespace sluice {

class Cluster;
struct GresPool;
struct Node;

// CPUs per core, as they are counted: threads may be CPUs, or cores only.
std::uint32_t cpus_per_core(const NodeConfig& config);

struct NodeKind {
    std::vector<std::string> features;
    std::uint32_t cpus = 0, sockets = 1, cores_per_socket = 1;
    std::uint32_t threads = 1;   // CPUs per core, as they are counted
    std::vector<bool> reserved;  // by CPU: kept from jobs
    std::vector<bool> for_gpus;  // by CPU: kept from jobs without GPUs; empty: none
    Megabytes tmp_disk = 0;
    Amounts total;
    struct Gres {
        std::string name;
        std::string type;  // empty: all types of the name together
        std::uint64_t count = 0;
        std::vector<std::uint64_t>
            on_socket;            // by gres.conf's Cores=; the rest is close to all sockets
        bool is_shared = false;   // parts of GPUs, or GPUs that have parts
        bool no_consume = false;  // nothing is taken

        // Whether so many of the given sockets have `each`: devices of other sockets do not help.
        bool has_on_sockets(std::uint64_t each, std::uint32_t sockets) const;
    };
    std::vector<Gres> gres;  // at Amounts::kFirstGres + its index here

    std::uint32_t cores() const { return std::max(1u, cpus / threads); }
    std::uint32_t usable() const { return static_cast<std::uint32_t>(total[Amounts::kCpus]); }
    // The first socket whose cores the device is close to; absent: it is close to all.
    std::optional<std::uint32_t> socket_of(const GresPool& pool, std::uint32_t slot) const;
    // The entry in which a request of this name and type is counted; nullptr: the kind has none of
    // it.
    const Gres* find_gres(const std::string& name, const std::string& type) const;
    std::size_t place_of(const Gres& entry) const {
        return Amounts::kFirstGres + static_cast<std::size_t>(&entry - gres.data());
    }
    // Whether Amounts has room for it. If not, plans ignore it; starting a job checks the node
    // itself.
    bool is_planned(const Gres& entry) const { return place_of(entry) < Amounts::kSize; }
    void add_gres(Amounts& amounts, const std::string& name, const std::string& type,
                  std::uint64_t count) const;
    Amounts amounts_of(const NodeShare& share,
                       const std::string& partition) const;  // of a job in it

    // The name under which CPUs are counted that jobs without GPUs may use.
    static constexpr std::string_view kCpusWithoutGpu = " cpus without GPU";
    // The name under which a partition's MaxCPUsPerNode is counted; the partition is its type.
    static constexpr std::string_view kPartitionCpus = " cpus of partition";
};

struct Layout {
    std::vector<NodeKind> kinds;
    std::vector<std::uint32_t> kind_of;    // by node index
    std::vector<std::uint64_t> weight_of;  // preference_of(node)
    // Leaf switch of each node; kNoSwitch where there is none. Leaves are numbered from 0.
    static constexpr std::uint32_t kNoSwitch = ~0u;
    std::vector<std::uint32_t> leaf_of;
    // For each leaf, the numbers of the switches above it, nearest first.
    std::vector<std::vector<std::uint32_t>> above;
    std::vector<std::string> switch_names;  // leaves first

    std::vector<std::vector<bool>> in_partition;  // by partition, by node index

    const NodeKind& kind(NodeIndex node) const { return kinds[kind_of[node.value]]; }
};

Layout layout_of(const Cluster& cluster);

}  // namespace sluice
