#include "surface/nodes.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/text.h"
#include "model/columns.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

bool is_in_use(NodeBase base) {
    return base == NodeBase::Allocated || base == NodeBase::Mixed;
}

bool is_out_of_service(NodeBase base, std::uint32_t flags) {
    return base == NodeBase::Down || base == NodeBase::Unknown || base == NodeBase::Error ||
           base == NodeBase::Future || (flags & (kNodeDrain | kNodeFail | kNodeNoRespond));
}

std::vector<std::int64_t> ranks_by_name(const Sheet& nodes) {
    std::vector<std::uint32_t> order(nodes.rows());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return host_less(nodes.text(a, NodeColumn::Name), nodes.text(b, NodeColumn::Name));
    });
    std::vector<std::int64_t> ranks(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<std::int64_t>(i);
    return ranks;
}

std::vector<std::vector<std::uint32_t>> members_of_partitions(const Sheet& nodes,
                                                              const Sheet& partitions) {
    std::unordered_map<std::string_view, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < partitions.rows(); ++i) {
        numbers[partitions.text(i, PartitionColumn::Name)] = i;
    }
    std::vector<std::vector<std::uint32_t>> members(partitions.rows());
    for (std::uint32_t node = 0; node < nodes.rows(); ++node) {
        for (std::string_view name : split(nodes.text(node, NodeColumn::Partitions), ',')) {
            auto found = numbers.find(name);
            if (found != numbers.end()) members[found->second].push_back(node);
        }
    }
    return members;
}

// The texts of all fields that keep nodes apart, one after the other.
std::string group_key(const NodeGroup& single, const Format<NodeGroup>& format, bool exact) {
    std::string key;
    for (const auto& cell : format.cells) {
        const std::uint8_t flags = cell.field->flags;
        if (!(flags & (kSplitsRows | kOfPartition)) && !(exact && (flags & kSplitsExactRows)))
            continue;
        cell.field->append(single, key);
        key += '\0';
    }
    return key;
}

bool shows_partition(const Format<NodeGroup>& format) {
    return std::any_of(format.cells.begin(), format.cells.end(), [](const auto& cell) {
        return cell.field->letter == 'P' || cell.field->letter == 'R';
    });
}

}  // namespace

NodeListing::NodeListing(const Table& node_table, const Table& partition_table, const Looks& looks)
    : nodes(node_table, looks),
      partitions(partition_table, looks),
      name_ranks(ranks_by_name(nodes)),
      members(members_of_partitions(nodes, partitions)) {}

NodeBase node_base(const Sheet& nodes, std::uint32_t node) {
    std::int64_t base = nodes.number(node, NodeColumn::BaseState);
    return base >= 0 && base <= static_cast<int>(NodeBase::Future) ? static_cast<NodeBase>(base)
                                                                   : NodeBase::Unknown;
}

std::uint32_t node_flags(const Sheet& nodes, std::uint32_t node) {
    std::int64_t flags = nodes.number(node, NodeColumn::Flags);
    return flags == kAbsent ? 0 : static_cast<std::uint32_t>(flags);
}

void write_node_states(const Sheet& nodes, std::uint32_t node, Json& json, std::string_view key) {
    const std::string text =
        print_node_state_complete(node_base(nodes, node), node_flags(nodes, node));
    json.open_list(key);
    for (std::string_view word : split(text, '+')) json.element(word);
    json.close();
}

NodeCounts count_nodes(const NodeGroup& group) {
    NodeCounts counts;
    for (std::uint32_t node : group.nodes) {
        const NodeBase base = node_base(group.listing->nodes, node);
        const std::uint32_t flags = node_flags(group.listing->nodes, node);
        ++counts.total;
        if (is_in_use(base) || (flags & kNodeCompleting)) {
            ++counts.allocated;
        } else if (is_out_of_service(base, flags)) {
            ++counts.other;
        } else {
            ++counts.idle;
        }
    }
    return counts;
}

NodeCounts count_cpus(const NodeGroup& group) {
    NodeCounts counts;
    for (std::uint32_t node : group.nodes) {
        const std::int64_t total = std::max<std::int64_t>(group.number(node, NodeColumn::Cpus), 0);
        const std::int64_t used =
            std::max<std::int64_t>(group.number(node, NodeColumn::AllocCpus), 0);
        const bool out = is_out_of_service(node_base(group.listing->nodes, node),
                                           node_flags(group.listing->nodes, node));
        counts.total += total;
        counts.allocated += used;
        (out ? counts.other : counts.idle) += total - used;
    }
    return counts;
}

std::string node_names(const NodeGroup& group) {
    std::vector<std::string> names;
    names.reserve(group.nodes.size());
    for (std::uint32_t node : group.nodes) {
        names.emplace_back(group.listing->nodes.text(node, NodeColumn::Name));
    }
    return Hostlist(std::move(names)).sorted().to_string();
}

std::vector<NodeGroup> group_nodes(const NodeListing& listing, const Format<NodeGroup>& format,
                                   const std::vector<bool>& chosen, const Grouping& grouping) {
    std::vector<NodeGroup> groups;
    std::unordered_map<std::string, std::size_t> known;
    for (std::uint32_t partition = 0; partition < listing.partitions.rows(); ++partition) {
        bool any = false;
        for (std::uint32_t node : listing.members[partition]) {
            if (!chosen[node]) continue;
            any = true;
            NodeGroup single{&listing, partition, {node}};
            if (grouping.by_node) {
                groups.push_back(std::move(single));
                continue;
            }
            auto [entry, is_new] =
                known.try_emplace(group_key(single, format, grouping.exact), groups.size());
            if (is_new) {
                groups.push_back(std::move(single));
                continue;
            }
            // A node in several partitions is counted once where the line is not about one of them.
            NodeGroup& group = groups[entry->second];
            const bool is_there =
                group.partition != partition &&
                std::find(group.nodes.begin(), group.nodes.end(), node) != group.nodes.end();
            if (!is_there) group.nodes.push_back(node);
        }
        // Compat: a partition without a fitting node still has its line.
        if (!any && !grouping.by_node && shows_partition(format))
            groups.push_back({&listing, partition, {}});
    }
    return groups;
}

}  // namespace sluice
