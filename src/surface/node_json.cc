#include "surface/node_json.h"

#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "model/node.h"

namespace sluice {

namespace {

using N = NodeColumn;
using P = PartitionColumn;

std::int64_t or_zero(std::int64_t number) {
    return number == kAbsent ? 0 : number;
}

void list_of(Json& json, std::string_view key, std::string_view commas) {
    json.open_list(key);
    for (std::string_view word : split(commas, ',')) {
        if (!word.empty()) json.element(word);
    }
    json.close();
}

// "MIXED+PLANNED" and "DOWN*" as lists of words.
void write_states(Json& json, NodeBase base, std::uint32_t flags) {
    json.open_list("state");
    std::string text = print_node_state_complete(base, flags & ~kNodeNoRespond);
    for (std::string_view word : split(text, '+')) json.element(word);
    if (flags & kNodeNoRespond) json.element("NOT_RESPONDING");
    json.close();
}

// State of a node after a requested reboot. Compat: INVALID if none is requested.
void write_next_state(Json& json, const Sheet& nodes, std::uint32_t i) {
    const std::int64_t next = nodes.number(i, N::NextState);
    std::string_view word = "INVALID";
    if (next != kAbsent) {
        word = next == static_cast<std::int64_t>(AfterReboot::Down) ? "DOWN" : "RESUME";
    }
    json.open_list("next_state_after_reboot");
    json.element(word);
    json.close();
}

void write_node(const Sheet& nodes, std::uint32_t i, Json& json) {
    auto text = [&](std::string_view key, N column) { json.text(key, nodes.text(i, column)); };
    auto plain = [&](std::string_view key, N column) {
        json.number(key, or_zero(nodes.number(i, column)));
    };
    auto wrapped = [&](std::string_view key, N column) {
        json.optional_number(key, nodes.number(i, column));
    };
    json.open_object();
    text("architecture", N::Arch);
    json.text("burstbuffer_network_address", "");
    plain("boards", N::Boards);
    wrapped("boot_time", N::BootTime);
    json.text("cluster_name", "");
    plain("cores", N::CoresPerSocket);
    plain("specialized_cores", N::CoreSpecCount);
    json.number("cpu_binding", 0);
    plain("cpu_load", N::Load);
    wrapped("free_mem", N::FreeMemory);
    plain("cpus", N::Cpus);
    plain("effective_cpus", N::Cpus);
    json.text("specialized_cpus", "");
    json.open_object("energy");
    json.close();
    text("comment", N::Comment);
    json.text("extra", "");
    list_of(json, "features", nodes.text(i, N::Features));
    list_of(json, "active_features", nodes.text(i, N::Features));
    json.text("gpu_spec", "");
    text("gres", N::Gres);
    json.text("gres_drained", "N/A");
    text("gres_used", N::GresUsed);
    json.text("instance_id", "");
    json.text("instance_type", "");
    wrapped("last_busy", N::LastBusyTime);
    json.text("mcs_label", "");
    plain("specialized_memory", N::MemSpecLimit);
    text("name", N::Name);
    text("address", N::Address);
    text("hostname", N::Hostname);
    write_states(json, node_base(nodes, i), node_flags(nodes, i));
    write_next_state(json, nodes, i);
    text("operating_system", N::Os);
    json.text("owner", "");
    list_of(json, "partitions", nodes.text(i, N::Partitions));
    plain("port", N::Port);
    plain("real_memory", N::RealMemory);
    text("reason", N::Reason);
    wrapped("reason_changed_at", N::ReasonTime);
    const std::int64_t user = nodes.number(i, N::ReasonUser);
    json.text("reason_set_by_user", user == kAbsent ? std::string_view() : nodes.user_name(user));
    json.optional_number("resume_after", kAbsent);
    text("reservation", N::Reservation);
    plain("alloc_memory", N::AllocMemory);
    plain("alloc_cpus", N::AllocCpus);
    json.number("alloc_idle_cpus",
                or_zero(nodes.number(i, N::Cpus)) - or_zero(nodes.number(i, N::AllocCpus)));
    text("tres_used", N::AllocTres);
    wrapped("slurmd_start_time", N::SlurmdStartTime);
    plain("sockets", N::Sockets);
    json.optional_number("suspend_time", kAbsent);
    plain("threads", N::ThreadsPerCore);
    plain("temporary_disk", N::TmpDisk);
    json.text("topology", "");
    plain("weight", N::Weight);
    text("tres", N::CfgTres);
    text("version", N::Version);
    json.close();
}

std::int64_t minutes_of(std::int64_t seconds) {
    return seconds == kAbsent || seconds == kUnlimited ? seconds : seconds / 60;
}

void write_partition(const Sheet& partitions, std::uint32_t i, Json& json, std::string_view key) {
    auto text = [&](std::string_view name, P column) {
        json.text(name, partitions.text(i, column));
    };
    auto number = [&](P column) { return partitions.number(i, column); };
    json.open_object(key);
    json.open_object("nodes");
    text("allowed_allocation", P::AllocNodes);
    text("configured", P::Nodes);
    json.number("total", or_zero(number(P::TotalNodes)));
    json.close();
    json.open_object("accounts");
    text("allowed", P::AllowAccounts);
    text("deny", P::DenyAccounts);
    json.close();
    json.open_object("groups");
    text("allowed", P::AllowGroups);
    json.close();
    json.open_object("qos");
    text("allowed", P::AllowQos);
    text("deny", P::DenyQos);
    text("assigned", P::Qos);
    json.close();
    text("alternate", P::Alternate);
    json.open_object("tres");
    text("billing_weights", P::TresBillingWeights);
    text("configured", P::Tres);
    json.close();
    json.text("cluster", "");
    json.open_object("cpus");
    json.number("total", or_zero(number(P::TotalCpus)));
    json.close();
    json.open_object("defaults");
    json.optional_number("partition_memory_per_cpu", number(P::DefMemPerCpu));
    json.optional_number("partition_memory_per_node", number(P::DefMemPerNode));
    json.optional_number("time", minutes_of(number(P::DefaultTime)));
    text("job", P::JobDefaults);
    json.close();
    json.number("grace_time", or_zero(number(P::GraceTime)));
    json.open_object("maximums");
    json.optional_number("cpus_per_node", number(P::MaxCpusPerNode));
    json.optional_number("cpus_per_socket", number(P::MaxCpusPerSocket));
    json.optional_number("partition_memory_per_cpu", number(P::MaxMemPerCpu));
    json.optional_number("partition_memory_per_node", number(P::MaxMemPerNode));
    json.optional_number("nodes", number(P::MaxNodes));
    json.optional_number("time", minutes_of(number(P::MaxTime)));
    json.close();
    json.open_object("minimums");
    json.number("nodes", or_zero(number(P::MinNodes)));
    json.close();
    text("name", P::Name);
    text("node_sets", P::NodeSets);
    json.open_object("priority");
    json.number("job_factor", or_zero(number(P::PriorityJobFactor)));
    json.number("tier", or_zero(number(P::PriorityTier)));
    json.close();
    json.open_object("partition");
    json.texts("state", {std::string(partitions.text(i, P::State))});
    json.close();
    json.close();
}

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
        write_states(json, node_base(nodes, first), node_flags(nodes, first));
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
    json.text("reservation", "");
    json.text("resource_spec", "");
    write_partition(group.listing->partitions, group.partition, json, "partition");
    json.close();
}

std::string finish(Json& json, const JsonMeta& meta) {
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace

std::string nodes_json(const Sheet& nodes, const JsonMeta& meta, bool compact) {
    Json json(compact);
    json.open_object();
    json.open_list("nodes");
    for (std::uint32_t i = 0; i < nodes.rows(); ++i) write_node(nodes, i, json);
    json.close();
    json.optional_number("last_update", to_unix(nodes.looks().now));
    return finish(json, meta);
}

std::string partitions_json(const Sheet& partitions, const JsonMeta& meta, bool compact) {
    Json json(compact);
    json.open_object();
    json.open_list("partitions");
    for (std::uint32_t i = 0; i < partitions.rows(); ++i) write_partition(partitions, i, json, {});
    json.close();
    json.optional_number("last_update", to_unix(partitions.looks().now));
    return finish(json, meta);
}

std::string sinfo_json(const NodeListing& listing, const std::vector<bool>& chosen,
                       const JsonMeta& meta, bool compact) {
    const Format<NodeGroup> format = parse_short_format("%P%T%E%G%f", node_fields());
    Json json(compact);
    json.open_object();
    json.open_list("sinfo");
    for (const NodeGroup& group : group_nodes(listing, format, chosen, {}))
        write_group(group, json);
    json.close();
    return finish(json, meta);
}

}  // namespace sluice
