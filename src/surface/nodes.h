// surface/nodes.h
//
// Nodes and partitions as all tools show them: the lines of sinfo, which are nodes of a partition
// that look the same in the fields shown, and the tables of properties.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/states.h"
#include "surface/fields.h"
#include "surface/format.h"
#include "surface/properties.h"
#include "surface/sheet.h"

namespace sluice {

struct NodeListing {
    NodeListing(const Table& node_table, const Table& partition_table, const Looks& looks);

    Sheet nodes;
    Sheet partitions;
    std::vector<std::int64_t> name_ranks;  // of each node, in the order in which hosts are listed
    std::vector<std::vector<std::uint32_t>> members;  // nodes of each partition
};

struct NodeGroup {
    const NodeListing* listing = nullptr;
    std::uint32_t partition = 0;
    std::vector<std::uint32_t> nodes;  // rows of the listing

    template <typename Enum>
    std::int64_t number(std::uint32_t node, Enum column) const {
        return listing->nodes.number(node, column);
    }
    const Looks& looks() const { return listing->nodes.looks(); }
};

using NodeField = ShownField<NodeGroup>;
std::span<const NodeField> node_fields();
std::span<const Property<NodeGroup>> node_properties();
std::span<const Property<NodeGroup>> partition_properties();

struct NodeCounts {
    std::int64_t allocated = 0, idle = 0, other = 0, total = 0;
};
NodeCounts count_nodes(const NodeGroup& group);
NodeCounts count_cpus(const NodeGroup& group);

NodeBase node_base(const Sheet& nodes, std::uint32_t node);
std::uint32_t node_flags(const Sheet& nodes, std::uint32_t node);
// ["MIXED", "PLANNED"]
void write_node_states(const Sheet& nodes, std::uint32_t node, Json& json, std::string_view key);
inline std::int64_t configured_order(const NodeGroup& group) {
    return group.partition;
}
std::string node_names(const NodeGroup& group);  // "cpu[1-2],gpua1"

struct Grouping {
    bool by_node = false;  // -N: a line for every node of every partition
    bool exact = false;    // -e
};
// Puts the nodes for which `chosen` is set on lines, as the fields of the format ask for.
std::vector<NodeGroup> group_nodes(const NodeListing& listing, const Format<NodeGroup>& format,
                                   const std::vector<bool>& chosen, const Grouping& grouping);

// Documents of JSON. The sheets must hold all columns.
std::string nodes_json(const Sheet& nodes, const JsonMeta& meta);
std::string partitions_json(const Sheet& partitions, const JsonMeta& meta);
std::string sinfo_json(const NodeListing& listing, const std::vector<bool>& chosen,
                       const JsonMeta& meta);
void write_partition(const SheetRow& partition, Json& json);  // its members

}  // namespace sluice
