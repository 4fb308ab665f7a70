// sim/settings.cc: the clusters that worlds are made of.
#include <fmt/format.h>

#include "sim/world.h"

namespace sluice {

Settings for_simulation(Settings settings) {
    settings.config_overrides = true;      // virtual nodes have what slurm.conf says
    settings.slurmd_timeout = Seconds{0};  // and never fall silent
    settings.max_job_count = 0xffffffff;
    settings.min_job_age = Seconds{1};  // outcomes are kept here
    settings.down_nodes.clear();
    for (NodeConfig& node : settings.nodes) node.state = "UNKNOWN";
    return settings;
}

Settings plain_settings(std::uint32_t nodes, std::uint32_t cpus, std::uint32_t gpus) {
    Settings settings;
    settings.cluster_name = "plain";
    settings.memory_is_consumable = false;
    PartitionConfig partition{.name = "all", .nodes_text = "ALL", .is_default = true};
    for (std::uint32_t i = 1; i <= nodes; ++i) {
        NodeConfig node;
        node.name = node.hostname = node.address = fmt::format("n{}", i);
        node.cpus = node.cores_per_socket = cpus;
        if (gpus > 0) node.gres = {{"gpu", "", gpus}};
        partition.nodes.push_back(node.name);
        settings.nodes.push_back(std::move(node));
    }
    settings.partitions.push_back(std::move(partition));
    return settings;
}

}  // namespace sluice
