// config/draft.h
//
// A Config while its file is being read: the DEFAULT lines so far, and the line of each definition,
// because names can be used before the line that defines them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/lines.h"

namespace sluice {

// A NodeName line before its ranges are expanded; what was not said is absent.
struct NodeSpec {
    std::string names, hostnames, addresses, ports;
    std::optional<std::uint32_t> cpus, boards, sockets, sockets_per_board, cores, threads;
    std::optional<std::uint32_t> core_spec_count;
    std::string cpu_spec_list;
    std::uint32_t weight = 1;
    std::uint32_t restricted_cores_per_gpu = 0;
    Megabytes real_memory = 1, mem_spec_limit = 0, tmp_disk = 0;
    std::string features, gres, state = "UNKNOWN", reason, comment;
    std::optional<TimeLimit> suspend_time;
};

struct NodeBlock {
    std::size_t first = 0;  // of the nodes that this line defines
    Line place;
};

struct NodeSetSpec {
    std::string name, nodes, feature;
    Line place;
};

struct DownSpec {
    std::string nodes, state = "DOWN", reason;
    Line place;
};

struct Draft {
    Config config;
    NodeSpec node_default;
    PartitionConfig partition_default;
    std::vector<NodeBlock> node_blocks;  // in file order
    std::vector<NodeSetSpec> node_sets;
    std::vector<DownSpec> down;
    std::vector<Line> partition_places;  // beside config.partitions
    std::vector<std::pair<std::string, Line>>
        gres_names;  // where first used; each must be in GresTypes
};

inline Line place_of(const Line& line) {
    return Line{line.file, line.number, {}};
}

// Each takes one line whose first key is NodeName, NodeSet, DownNodes, PartitionName, QOS.
Result<void> take_node_line(Draft& draft, const Line& line);
Result<void> take_node_set_line(Draft& draft, const Line& line);
Result<void> take_down_line(Draft& draft, const Line& line);
Result<void> take_partition_line(Draft& draft, const Line& line);
Result<void> take_qos_line(Draft& draft, const Line& line);

// Once the whole file was read.
Result<void> finish_nodes(Draft& draft);
Result<void> finish_partitions(Draft& draft);

// The index of a node; needs finish_nodes' index.
std::optional<std::uint32_t> find_node_index(const Config& config, std::string_view name);

}  // namespace sluice
