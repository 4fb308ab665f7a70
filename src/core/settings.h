// core/settings.h
//
// The part of the configuration that decisions depend on. The controller makes it from slurm.conf;
// tests and the simulator write it down directly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/node.h"

namespace sluice {

struct Settings {
    std::string cluster_name = "cluster";
    std::vector<NodeConfig> nodes;
    std::map<std::string, std::vector<GresDevices>> gres;  // gres.conf by node; may lack nodes
    std::vector<PartitionConfig> partitions;
    std::vector<std::pair<std::string, std::string>> down_nodes;  // name, reason
    UserId slurm_user{0};
    std::uint32_t first_job_id = 1;
    std::uint32_t max_job_id = 67043328;
    std::uint32_t max_job_count = 10000;
    std::uint32_t max_array_size = 1001;
    bool job_requeue = true;
    bool memory_is_consumable = true;      // SelectTypeParameters=*_Memory
    bool config_overrides = false;         // trust slurm.conf over what nodes report
    std::uint16_t return_to_service = 0;
    Seconds kill_wait{30};
    Seconds min_job_age{300};
    Seconds slurmd_timeout{300};
    Seconds requeue_delay{1};              // what a requeued job waits
    Seconds over_time_limit{0};
    bool enforce_part_limits = false;
    std::optional<Megabytes> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
};

}  // namespace sluice
