// surface/sinfo_json.cc
//
// sinfo --json: its lines, each with the sums over its nodes and its partition.
#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "surface/nodes.h"
#include "surface/record.h"

namespace sluice {

namespace {

using N = NodeColumn;

void write_least_most(Json& json, std::string_view key, const NodeGroup& group, N column) {
    std::int64_t least = kUnlimited, most = 0;
    for (std::uint32_t node : group.nodes) {
        least = std::min(least, or_zero(group.number(node, column)));
        most = std::max(most, or_zero(group.number(node, column)));
    }
    json.open_object(key);
    json.number("minimum", group.nodes.empty() ? 0 : least);
    json.number("maximum", most);
    json.close();
}

void write_memory(const NodeGroup& group, Json& json) {
    std::int64_t least = kUnlimited, most = 0, allocated = 0, free_least = kUnlimited,
                 free_most = 0;
    for (std::uint32_t node : group.nodes) {
        least = std::min(least, or_zero(group.number(node, N::RealMemory)));
        most = std::max(most, or_zero(group.number(node, N::RealMemory)));
        free_least = std::min(free_least, or_zero(group.number(node, N::FreeMemory)));
        free_most = std::max(free_most, or_zero(group.number(node, N::FreeMemory)));
        allocated += or_zero(group.number(node, N::AllocMemory));
    }
    json.open_object("memory");
    json.number("minimum", group.nodes.empty() ? 0 : least);
    json.number("maximum", most);
    json.open_object("free");
    json.optional_number("minimum", group.nodes.empty() ? kAbsent : free_least);
    json.optional_number("maximum", group.nodes.empty() ? kAbsent : free_most);
    json.close();
    json.number("allocated", allocated);
    json.close();
}

void write_group_nodes(const NodeGroup& group, Json& json) {
    const Sheet& nodes = group.listing->nodes;
    const NodeCounts counts = count_nodes(group);
    json.open_object("nodes");
    json.number("allocated", counts.allocated);
    json.number("idle", counts.idle);
    json.number("other", counts.other);
    json.number("total", counts.total);
    for (auto [key, column] : {std::pair{"hostnames", N::Hostname},
                               std::pair{"addresses", N::Address}, std::pair{"nodes", N::Name}}) {
        json.open_list(key);
        for (std::uint32_t node : group.nodes) json.element(nodes.text(node, column));
        json.close();
    }
    json.close();
    const NodeCounts cpus = count_cpus(group);
    json.open_object("cpus");
    json.number("allocated", cpus.allocated);
    json.number("idle", cpus.idle);
    json.number("other", cpus.other);
    json.number("total", cpus.total);
    write_least_most(json, "load", group, N::Load);
    write_least_most(json, "per_node", group, N::Cpus);
    json.close();
}

void write_group(const NodeGroup& group, Json& json) {
    const Sheet& nodes = group.listing->nodes;
    const std::uint32_t first = group.nodes.empty() ? 0 : group.nodes[0];
    auto text = [&](N column) {
        return group.nodes.empty() ? std::string_view() : nodes.text(first, column);
    };
    json.open_object();
    json.number("port", group.nodes.empty() ? 0 : or_zero(nodes.number(first, N::Port)));
    json.open_object("node");
    if (group.nodes.empty()) {
        json.texts("state", {});
    } else {
        write_node_states(nodes, first, json, "state");
    }
    json.close();
    write_group_nodes(group, json);
    write_least_most(json, "sockets", group, N::Sockets);
    write_least_most(json, "cores", group, N::CoresPerSocket);
    write_least_most(json, "threads", group, N::ThreadsPerCore);
    write_least_most(json, "disk", group, N::TmpDisk);
    write_memory(group, json);
    write_least_most(json, "weight", group, N::Weight);
    json.open_object("features");
    json.text("total", text(N::Features));
    json.text("active", text(N::Features));
    json.close();
    json.open_object("gres");
    json.text("total", text(N::Gres));
    json.text("used", text(N::GresUsed));
    json.close();
    json.text("cluster", "");
    json.text("comment", text(N::Comment));
    json.text("extra", "");
    json.text("reason", text(N::Reason));
    json.text("reservation", text(N::Reservation));
    json.text("resource_spec", "");
    json.open_object("partition");
    write_partition({&group.listing->partitions, group.partition}, json);
    json.close();
    json.close();
}

}  // namespace

std::string sinfo_json(const NodeListing& listing, const std::vector<bool>& chosen,
                       const JsonMeta& meta) {
    const Format<NodeGroup> format = parse_short_format("%P%T%E%G%f", node_fields());
    Json json(meta.style);
    json.open_object();
    json.open_list("sinfo");
    for (const NodeGroup& group : group_nodes(listing, format, chosen, {}))
        write_group(group, json);
    json.close();
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace sluice
