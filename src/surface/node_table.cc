// surface/node_table.cc
//
// The properties of nodes: fields of sinfo, keys of scontrol show node, JSON. A field that keeps
// nodes apart has the same value for all nodes of a line, so its text is that of the first one.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "model/node.h"
#include "surface/nodes.h"
#include "surface/properties.h"

namespace sluice {

namespace {

using N = NodeColumn;

// Texts of listings.

std::string_view first_text(const NodeGroup& group, N column) {
    return group.nodes.empty() ? std::string_view()
                               : group.listing->nodes.text(group.nodes[0], column);
}
std::int64_t first_number(const NodeGroup& group, N column) {
    return group.nodes.empty() ? kAbsent : group.number(group.nodes[0], column);
}

template <N Column>
void text_or_null(const NodeGroup& group, std::string& out) {
    std::string_view text = first_text(group, Column);
    out += text.empty() ? "(null)" : text;
}
template <N Column>
void first_number_cell(const NodeGroup& group, std::string& out) {
    const std::int64_t number = first_number(group, Column);
    append_number(number == kAbsent ? 0 : number, out);
}

struct Bounds {
    std::int64_t least = 0, most = 0;
};
Bounds bounds_of(const NodeGroup& group, N column) {
    if (group.nodes.empty()) return {};
    Bounds bounds{kUnlimited, kAbsent};
    for (std::uint32_t node : group.nodes) {
        const std::int64_t value = group.number(node, column);
        bounds.least = std::min(bounds.least, value);
        bounds.most = std::max(bounds.most, value);
    }
    return bounds;
}

void append_least(const NodeGroup& group, N column, std::string& out) {
    const Bounds bounds = bounds_of(group, column);
    append_number(std::max<std::int64_t>(bounds.least, 0), out);
    if (bounds.most != bounds.least) out += '+';
}
template <N Column>
void least_cell(const NodeGroup& group, std::string& out) {
    append_least(group, Column, out);
}
template <N Column>
std::int64_t least_key(const NodeGroup& group) {
    return bounds_of(group, Column).least;
}

void sockets_cores_threads(const NodeGroup& group, std::string& out) {
    append_least(group, N::Sockets, out);
    out += ':';
    append_least(group, N::CoresPerSocket, out);
    out += ':';
    append_least(group, N::ThreadsPerCore, out);
}

void free_memory(const NodeGroup& group, std::string& out) {
    const Bounds bounds = bounds_of(group, N::FreeMemory);
    if (bounds.most == kAbsent) {
        out += "N/A";
        return;
    }
    append_number(std::max<std::int64_t>(bounds.least, 0), out);
    if (bounds.most != bounds.least) {
        out += '-';
        append_number(bounds.most, out);
    }
}

void load(const NodeGroup& group, std::string& out) {
    const Bounds bounds = bounds_of(group, N::Load);
    if (bounds.most == kAbsent) {
        out += "N/A";
        return;
    }
    const std::int64_t least = std::max<std::int64_t>(bounds.least, 0);
    fmt::format_to(std::back_inserter(out), "{:.2f}", static_cast<double>(least) / 100);
    if (bounds.most != bounds.least) {
        fmt::format_to(std::back_inserter(out), "-{:.2f}", static_cast<double>(bounds.most) / 100);
    }
}

void append_counts(const NodeCounts& counts, std::string& out) {
    fmt::format_to(std::back_inserter(out), "{}/{}/{}/{}", counts.allocated, counts.idle,
                   counts.other, counts.total);
}
void nodes_aiot(const NodeGroup& group, std::string& out) {
    append_counts(count_nodes(group), out);
}
void cpus_aiot(const NodeGroup& group, std::string& out) {
    append_counts(count_cpus(group), out);
}
void nodes_ai(const NodeGroup& group, std::string& out) {
    const NodeCounts counts = count_nodes(group);
    fmt::format_to(std::back_inserter(out), "{}/{}", counts.allocated, counts.idle);
}
void node_count(const NodeGroup& group, std::string& out) {
    append_number(static_cast<std::int64_t>(group.nodes.size()), out);
}
std::int64_t node_count_key(const NodeGroup& group) {
    return static_cast<std::int64_t>(group.nodes.size());
}

void names(const NodeGroup& group, std::string& out) {
    out += node_names(group);
}
std::int64_t name_key(const NodeGroup& group) {
    std::int64_t least = kUnlimited - 1;
    for (std::uint32_t node : group.nodes) least = std::min(least, group.listing->name_ranks[node]);
    return least;
}
template <N Column>
void plain_text(const NodeGroup& group, std::string& out) {
    out += first_text(group, Column);
}

template <std::string (*Print)(NodeBase, std::uint32_t)>
void state_cell(const NodeGroup& group, std::string& out) {
    if (group.nodes.empty()) {
        out += "n/a";
    } else {
        const Sheet& nodes = group.listing->nodes;
        out += Print(node_base(nodes, group.nodes[0]), node_flags(nodes, group.nodes[0]));
    }
}
std::string complete_state(NodeBase base, std::uint32_t flags) {
    return to_lower(print_node_state_complete(base, flags));
}

// Compat: the order of Slurm's state numbers, flags above bases: default lines go from drained and
// planned ones over mixed, allocated, idle to down.
std::int64_t state_key(const NodeGroup& group) {
    if (group.nodes.empty()) return -1;
    constexpr std::uint32_t kFlagsUpwards[] = {
        kNodeReserved,    kNodeCloud,        kNodeDrain,        kNodeCompleting, kNodeNoRespond,
        kNodePoweredDown, kNodeFail,         kNodePoweringUp,   kNodeMaint,      kNodeReboot,
        kNodePlanned,     kNodePoweringDown, kNodeRebootIssued, kNodePowerDown,  kNodePowerUp,
        kNodePowerDrain,  kNodeDynamic,      kNodeDynamicFuture};
    constexpr std::int64_t kBaseOrder[] = {0, 1, 2, 3, 5, 4, 6};  // by NodeBase
    const Sheet& nodes = group.listing->nodes;
    std::int64_t key = kBaseOrder[static_cast<int>(node_base(nodes, group.nodes[0]))];
    const std::uint32_t flags = node_flags(nodes, group.nodes[0]);
    std::int64_t weight = 16;
    for (std::uint32_t flag : kFlagsUpwards) {
        if (flags & flag) key += weight;
        weight *= 2;
    }
    return key;
}

void reason(const NodeGroup& group, std::string& out) {
    std::string_view text = first_text(group, N::Reason);
    out += text.empty() ? "none" : text;
}
void reason_time(const NodeGroup& group, std::string& out) {
    std::int64_t time =
        first_text(group, N::Reason).empty() ? 0 : first_number(group, N::ReasonTime);
    append_moment(time, "Unknown", group.looks(), out);
}
void reason_user(const NodeGroup& group, std::string& out) {
    const std::int64_t user = first_number(group, N::ReasonUser);
    const bool known = user != kAbsent && !first_text(group, N::Reason).empty();
    out += known ? group.listing->nodes.user_name(user) : std::string_view("Unknown");
}
void reason_user_long(const NodeGroup& group, std::string& out) {
    reason_user(group, out);
    const std::int64_t user = first_number(group, N::ReasonUser);
    if (user != kAbsent && !first_text(group, N::Reason).empty()) {
        fmt::format_to(std::back_inserter(out), "({})", user);
    }
}

void version(const NodeGroup& group, std::string& out) {
    std::string_view text = first_text(group, N::Version);
    out += text.empty() ? "N/A" : text;
}
template <Literal Word>
void same_word(const NodeGroup&, std::string& out) {
    out += Word.view();
}

// Texts of records.

void complete_state_text(const SheetRow& node, std::string& out) {
    out += print_node_state_complete(node_base(*node.sheet, node.index),
                                     node_flags(*node.sheet, node.index));
}

std::int64_t effective_cpus(const SheetRow& node) {
    return or_zero(node.number(N::Cpus)) -
           or_zero(node.number(N::CoreSpecCount)) *
               std::max<std::int64_t>(or_zero(node.number(N::ThreadsPerCore)), 1);
}
void effective_cpus_text(const SheetRow& node, std::string& out) {
    append_number(effective_cpus(node), out);
}

void load_text(const SheetRow& node, std::string& out) {
    if (!node.has(N::Load)) {
        out += "N/A";
    } else {
        out += fmt::format("{:.2f}", static_cast<double>(node.number(N::Load)) / 100);
    }
}

template <N Column>
void if_positive(const SheetRow& node, std::string& out) {
    if (or_zero(node.number(Column)) > 0) append_number(node.number(Column), out);
}

void free_scratch(const SheetRow& node, std::string& out) {
    if (node.has(N::FreeScratch)) append_number(node.number(N::FreeScratch), out);
}

void suspend_time(const SheetRow& node, std::string& out) {
    const std::int64_t seconds = node.number(N::SuspendTime);
    if (seconds == kAbsent || seconds == kUnlimited) {
        out += "INFINITE";
    } else {
        append_number(seconds, out);
    }
}

std::string_view next_state_word(const SheetRow& node) {
    const bool down = node.number(N::NextState) == static_cast<std::int64_t>(AfterReboot::Down);
    return down ? "DOWN" : "RESUME";
}
void next_state(const SheetRow& node, std::string& out) {
    if (node.has(N::NextState)) out += next_state_word(node);
}

void reason_text(const SheetRow& node, std::string& out) {
    if (node.text(N::Reason).empty()) return;
    out += node.text(N::Reason);
    if (node.has(N::ReasonTime) && node.has(N::ReasonUser)) {
        out += fmt::format(" [{}@", node.sheet->user_name(node.number(N::ReasonUser)));
        moment_cell<N::ReasonTime, "None">(node, out);
        out += ']';
    }
}

// Values of JSON.

void write_states(const SheetRow& node, Json& json, std::string_view key) {
    write_node_states(*node.sheet, node.index, json, key);
}

// Compat: INVALID if no reboot is requested.
void write_next_state(const SheetRow& node, Json& json, std::string_view key) {
    json.texts(key, {std::string(node.has(N::NextState) ? next_state_word(node) : "INVALID")});
}

void write_reason_user(const SheetRow& node, Json& json, std::string_view key) {
    const std::int64_t user = node.number(N::ReasonUser);
    json.text(key, user == kAbsent ? std::string_view() : node.sheet->user_name(user));
}

void write_effective_cpus(const SheetRow& node, Json& json, std::string_view key) {
    json.number(key, effective_cpus(node));
}

void write_idle_cpus(const SheetRow& node, Json& json, std::string_view key) {
    json.number(key, or_zero(node.number(N::Cpus)) - or_zero(node.number(N::AllocCpus)));
}

void write_real_zero(const SheetRow&, Json& json, std::string_view key) {
    json.real(key, 0);
}
template <N Column>
void text_or_not_available(const SheetRow& node, std::string& out) {
    out += node.text(Column).empty() ? "N/A" : node.text(Column);
}
template <N Column>
void write_text_or_not_available(const SheetRow& node, Json& json, std::string_view key) {
    json.text(key, node.text(Column).empty() ? "N/A" : node.text(Column));
}

constexpr std::uint8_t kSplit = kSplitsRows, kExact = kSplitsExactRows;

// clang-format off
constexpr Property<NodeGroup> kProperties[] = {
    {text<N::Arch>,                record("Arch", kIfSet), json("architecture")},
    {word<"">,                     json("burstbuffer_network_address")},
    {number<N::Boards>,            record("Boards"), json("boards")},
    {moment<N::BootTime, "None">,  record("BootTime"), json("boot_time")},
    {word<"">,                     json("tls_cert_last_renewal", json_unset).since(43)},
    {word<"">,                     json("cert_flags", json_no_list).since(43)},
    {word<"N/A">,                  list('V', "Cluster", "CLUSTER", same_word<"N/A">).sorted(), json("cluster_name")},
    {number<N::CoresPerSocket>,
     list('Y', "Cores", "CORES", least_cell<N::CoresPerSocket>).with(kExact).sorted(least_key<N::CoresPerSocket>),
     record("CoresPerSocket"), json("cores")},
    {number<N::CoreSpecCount>, record("CoreSpecCount", if_positive<N::CoreSpecCount>, kIfSet),
     json("specialized_cores")},
    {word<"">,                     json("cpu_binding", json_zero)},
    {number<N::Load>, list('O', "CPUsLoad", "CPU_LOAD", load).with(kExact).sorted(least_key<N::Load>),
     record("CPULoad", load_text), json("cpu_load")},
    {optional_number<N::FreeMemory>,
     list('e', "FreeMem", "FREE_MEM", free_memory).with(kExact).sorted(least_key<N::FreeMemory>),
     record("FreeMem", number_or<N::FreeMemory, "N/A">), json("free_mem")},
    {number<N::Cpus>, list('c', "CPUs", "CPUS", least_cell<N::Cpus>).with(kExact).sorted(least_key<N::Cpus>),
     record("CPUTot"), json("cpus")},
    {made_of(N::Cpus, N::CoreSpecCount, N::ThreadsPerCore), record("CPUEfctv", effective_cpus_text),
     json("effective_cpus", write_effective_cpus)},
    {word<"">,                     json("specialized_cpus")},
    {word<"0">,                    record("AveWatts"), json("energy/average_watts", json_zero)},
    {word<"">,                     json("energy/base_consumed_energy", json_zero)},
    {word<"">,                     json("energy/consumed_energy", json_zero)},
    {word<"0">,                    record("CurrentWatts"), json("energy/current_watts", json_unset)},
    {word<"">,                     json("energy/previous_consumed_energy", json_zero)},
    {word<"">,                     json("energy/last_collected", json_zero)},
    {word<"">,                     json("external_sensors", json_no_object).until(44)},
    {word<"(null)">,               list("Extra", "EXTRA", same_word<"(null)">), json("extra")},
    {word<"">,                     json("power", json_no_object).until(44)},
    {text<N::Features>, list('f', "Features", "AVAIL_FEATURES", text_or_null<N::Features>).with(kSplit).sorted(),
     record("AvailableFeatures"), json("features", json_list<N::Features>)},
    {text<N::Features>, list('b', "features_act", "ACTIVE_FEATURES", text_or_null<N::Features>).with(kSplit).sorted(),
     record("ActiveFeatures"), json("active_features", json_list<N::Features>)},
    {word<"">,                     json("gpu_spec")},
    {text<N::Gres>, list('G', "Gres", "GRES", text_or_null<N::Gres>).with(kSplit).sorted(), record("Gres"),
     json("gres")},
    {text<N::GresDrained>, list("GresDrain", "GRES_DRAIN", text_or_null<N::GresDrained>).with(kSplit),
     record("GresDrain", text_or_not_available<N::GresDrained>, kIfDetails),
     json("gres_drained", write_text_or_not_available<N::GresDrained>)},
    {text<N::GresDrainReason>, list("GresDrainReason", "GRES_DRAIN_REASON", text_or_null<N::GresDrainReason>).with(kSplit),
     record("GresDrainReason", kIfSet)},
    {text<N::GresUsed>, list("GresUsed", "GRES_USED", text_or_null<N::GresUsed>).with(kSplit),
     record("GresUsed", kIfDetails), json("gres_used")},
    {word<"">,                     json("instance_id")},
    {word<"">,                     json("instance_type")},
    {moment<N::LastBusyTime>,      record("LastBusyTime"), json("last_busy")},
    {word<"N/A">,                  record("MCS_label"), json("mcs_label")},
    {number<N::MemSpecLimit>, record("MemSpecLimit", if_positive<N::MemSpecLimit>, kIfSet), json("specialized_memory")},
    {text<N::Name>, list('N', "NodeList", "NODELIST", names).with(kWholeHeader).sorted(name_key),
     record("NodeName", text_cell<N::Name, "">), json("name")},
    {number<N::NextState>, record("NextState", next_state, kIfSet), json("next_state_after_reboot", write_next_state)},
    {text<N::Address>, list('o', "NodeAddr", "NODE_ADDR", plain_text<N::Address>).with(kSplit | kWholeHeader).sorted(),
     record("NodeAddr", text_cell<N::Address, "">), json("address")},
    {text<N::Hostname>,
     list('n', "NodeHost", "HOSTNAMES", plain_text<N::Hostname>).with(kSplit | kWholeHeader).sorted(name_key),
     record("NodeHostName", text_cell<N::Hostname, "">), json("hostname")},
    {made_of(N::BaseState, N::Flags),
     list('T', "StateLong", "STATE", state_cell<print_node_state>).with(kSplit).sorted(state_key),
     record("State", complete_state_text), json("state", write_states)},
    {text<N::Os>,                  record("OS", kIfSet), json("operating_system")},
    {word<"N/A">,                  record("Owner"), json("owner")},
    {text<N::Partitions>,          record("Partitions", kIfSet), json("partitions", json_list<N::Partitions>)},
    {number<N::Port>,              list("Port", "PORT", first_number_cell<N::Port>), record("Port"), json("port")},
    {number<N::RealMemory>,
     list('m', "Memory", "MEMORY", least_cell<N::RealMemory>).with(kExact).sorted(least_key<N::RealMemory>),
     record("RealMemory"), json("real_memory")},
    {word<"">,                     json("res_cores_per_gpu", json_zero)},
    {text<N::Comment>, list("Comment", "COMMENT", text_or_null<N::Comment>).with(kSplit), record("Comment", kIfSet),
     json("comment")},
    {text<N::Reason>, list('E', "Reason", "REASON", reason).with(kSplit).sorted(),
     record("Reason", reason_text, kIfSet), json("reason")},
    {moment<N::ReasonTime>, list('H', "TimeStamp", "TIMESTAMP", reason_time).with(kSplit).sorted(),
     json("reason_changed_at")},
    {number<N::ReasonUser>, list('u', "User", "USER", reason_user).with(kSplit).sorted(),
     json("reason_set_by_user", write_reason_user)},
    {moment<N::ResumeAfter, "None">, record("ResumeAfterTime"), json("resume_after")},
    {text<N::Reservation>, list('i', "Reservation", "RESERVATION", plain_text<N::Reservation>).with(kSplit).sorted(),
     json("reservation")},
    {optional_number<N::SuspendTime>, record("SuspendTime", suspend_time), json("suspend_time").since(45)},
    {number<N::AllocMemory>, list("AllocMem", "ALLOCMEM", first_number_cell<N::AllocMemory>).with(kSplit),
     record("AllocMem"), json("alloc_memory")},
    {number<N::AllocCpus>,         record("CPUAlloc"), json("alloc_cpus")},
    {made_of(N::Cpus, N::AllocCpus), json("alloc_idle_cpus", write_idle_cpus)},
    {text<N::AllocTres>,           record("AllocTRES", text_cell<N::AllocTres, "">), json("tres_used")},
    {word<"">,                     json("tres_weighted", write_real_zero).until(44)},
    {moment<N::SlurmdStartTime, "None">, record("SlurmdStartTime"), json("slurmd_start_time")},
    {number<N::Sockets>,
     list('X', "Sockets", "SOCKETS", least_cell<N::Sockets>).with(kExact).sorted(least_key<N::Sockets>),
     record("Sockets"), json("sockets")},
    {number<N::ThreadsPerCore>,
     list('Z', "Threads", "THREADS", least_cell<N::ThreadsPerCore>).with(kExact).sorted(least_key<N::ThreadsPerCore>),
     record("ThreadsPerCore"), json("threads")},
    {number<N::TmpDisk>,
     list('d', "Disk", "TMP_DISK", least_cell<N::TmpDisk>).with(kExact).sorted(least_key<N::TmpDisk>),
     record("TmpDisk"), json("temporary_disk")},
    {optional_number<N::FreeScratch>, record("FreeScratch", free_scratch, kIfSet)},
    {number<N::Weight>, list('w', "Weight", "WEIGHT", least_cell<N::Weight>).with(kExact).sorted(least_key<N::Weight>),
     record("Weight"), json("weight")},
    {word<"">,                     json("topology").since(43)},
    {text<N::CfgTres>,             record("CfgTRES"), json("tres")},
    {text<N::Version>, list('v', "Version", "VERSION", version).with(kSplit).sorted(), record("Version", kIfSet),
     json("version")},
    // Further fields of sinfo.
    {word<"">, list('A', "NodeAI", "NODES(A/I)", nodes_ai).sorted()},
    {word<"">, list('C', "CPUsState", "CPUS(A/I/O/T)", cpus_aiot).sorted()},
    {word<"">, list('D', "Nodes", "NODES", node_count).sorted(node_count_key)},
    {word<"">, list('F', "NodeAIOT", "NODES(A/I/O/T)", nodes_aiot).sorted()},
    {word<"">, list('t', "StateCompact", "STATE", state_cell<print_node_state_compact>).with(kSplit).sorted(state_key)},
    {word<"">, list("StateComplete", "STATECOMPLETE", state_cell<complete_state>).with(kSplit)},
    {word<"">, list('U', "UserLong", "USER", reason_user_long).with(kSplit).sorted()},
    {word<"">, list('z', "SocketCoreThread", "S:C:T", sockets_cores_threads).with(kExact).sorted()},
};
// clang-format on

constexpr std::string_view kRecord[] = {
    "NodeName Arch CoresPerSocket ",
    "CPUAlloc CPUEfctv CPUTot CPULoad",
    "AvailableFeatures",
    "ActiveFeatures",
    "Gres",
    "GresDrain",
    "GresDrainReason",
    "GresUsed",
    "NodeAddr NodeHostName Port Version",
    "OS ",
    "RealMemory AllocMem FreeMem Sockets Boards",
    "CoreSpecCount",
    "MemSpecLimit",
    "State ThreadsPerCore TmpDisk Weight Owner MCS_label",
    "NextState",
    "Partitions ",
    "BootTime SlurmdStartTime",
    "LastBusyTime ResumeAfterTime SuspendTime",
    "CfgTRES",
    "AllocTRES",
    "CurrentWatts AveWatts",
    "FreeScratch",
    "Reason",
    "Comment",
};

}  // namespace

std::span<const Property<NodeGroup>> node_properties() {
    return kProperties;
}

std::span<const NodeField> node_fields() {
    static const std::vector<NodeField> fields =
        fields_of<NodeGroup>({kProperties, partition_properties()});
    return fields;
}

void append_node_record(const SheetRow& node, const RecordStyle& style, std::string& out) {
    static const RecordLayout layout(record_keys<NodeGroup>(kProperties), kRecord);
    layout.append(node, style, out);
}

std::string nodes_json(const Sheet& nodes, const JsonMeta& meta) {
    return json_document("nodes", json_keys<NodeGroup>(kProperties), nodes, meta);
}

}  // namespace sluice
