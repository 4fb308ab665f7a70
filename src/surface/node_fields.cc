// surface/node_fields.cc
//
// The fields of sinfo: -o letters, -O names, headings, --sort.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "model/hostlist.h"
#include "surface/nodes.h"

namespace sluice {

namespace {

using N = NodeColumn;
using P = PartitionColumn;

constexpr ColumnId of_partition(P column) {
    return static_cast<ColumnId>(kPartitionOffset + static_cast<ColumnId>(column));
}

std::string_view partition_text(const NodeGroup& group, P column) {
    return group.listing->partitions.text(group.partition, column);
}
std::int64_t partition_number(const NodeGroup& group, P column) {
    return group.listing->partitions.number(group.partition, column);
}

template <P Column>
void partition_text_cell(const NodeGroup& group, std::string& out) {
    out += partition_text(group, Column);
}
template <P Column>
void partition_number_cell(const NodeGroup& group, std::string& out) {
    std::int64_t number = partition_number(group, Column);
    append_number(number == kAbsent ? 0 : number, out);
}
template <P Column>
std::int64_t partition_key(const NodeGroup& group) {
    return partition_number(group, Column);
}

void partition_name(const NodeGroup& group, std::string& out) {
    out += partition_text(group, P::Name);
    if (partition_number(group, P::IsDefault) == 1) out += '*';
}

void avail(const NodeGroup& group, std::string& out) {
    out += to_lower(partition_text(group, P::State));
}

template <P Column>
void all_or_list(const NodeGroup& group, std::string& out) {
    std::string_view text = partition_text(group, Column);
    out += text.empty() || equals_ignoring_case(text, "ALL") ? "all" : text;
}

template <P Column>
void partition_time(const NodeGroup& group, std::string& out) {
    const std::int64_t limit = partition_number(group, Column);
    if (limit == kAbsent) {
        out += "n/a";
    } else if (limit == kUnlimited) {
        out += "infinite";
    } else {
        append_duration(limit, out);
    }
}

void job_size(const NodeGroup& group, std::string& out) {
    const std::int64_t least = std::max<std::int64_t>(partition_number(group, P::MinNodes), 1);
    const std::int64_t most = partition_number(group, P::MaxNodes);
    append_number(least, out);
    if (most == kUnlimited || most == kAbsent) {
        out += "-infinite";
    } else if (most != least) {
        out += '-';
        append_number(most, out);
    }
}

void root_only(const NodeGroup& group, std::string& out) {
    out += partition_number(group, P::RootOnly) == 1 ? "yes" : "no";
}

void cpus_per_node_max(const NodeGroup& group, std::string& out) {
    const std::int64_t most = partition_number(group, P::MaxCpusPerNode);
    if (most == kUnlimited || most == kAbsent) {
        out += "UNLIMITED";
    } else {
        append_number(most, out);
    }
}

// Values of nodes. Those that keep nodes apart are the same for the whole line: the first one's do.

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
        kNodeReserved,    kNodeCloud,        kNodeDrain,       kNodeCompleting, kNodeNoRespond,
        kNodePoweredDown, kNodeFail,         kNodePoweringUp,  kNodeMaint,      kNodeReboot,
        kNodePlanned,     kNodePoweringDown, kNodeRebootIssued};
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
void not_available(const NodeGroup&, std::string& out) {
    out += "N/A";
}
void null_word(const NodeGroup&, std::string& out) {
    out += "(null)";
}

constexpr Needs p(P column) {
    return needs(of_partition(column));
}
constexpr std::uint8_t kSplit = kSplitsRows, kExact = kSplitsExactRows, kPart = kOfPartition;
constexpr Needs kStateNeeds = needs(N::BaseState, N::Flags);
constexpr Needs kCpuNeeds = needs(N::BaseState, N::Flags, N::Cpus, N::AllocCpus);

// clang-format off
constexpr NodeField kNodeFields[] = {
    // -o  -O                  header               needs                     value                                 sort key
    {'a', "Available",         "AVAIL",             p(P::State),              avail,                                nullptr, kPart, true},
    {'A', "NodeAI",            "NODES(A/I)",        kStateNeeds,              nodes_ai,                             nullptr, kPlain, true},
    {'b', "features_act",      "ACTIVE_FEATURES",   needs(N::Features),       text_or_null<N::Features>,            nullptr, kSplit, true},
    {'B', "MaxCPUsPerNode",    "MAX_CPUS_PER_NODE", p(P::MaxCpusPerNode),     cpus_per_node_max,                    partition_key<P::MaxCpusPerNode>, kPart, true},
    {'c', "CPUs",              "CPUS",              needs(N::Cpus),           least_cell<N::Cpus>,                  least_key<N::Cpus>, kExact, true},
    {'C', "CPUsState",         "CPUS(A/I/O/T)",     kCpuNeeds,                cpus_aiot,                            nullptr, kPlain, true},
    {'d', "Disk",              "TMP_DISK",          needs(N::TmpDisk),        least_cell<N::TmpDisk>,               least_key<N::TmpDisk>, kExact, true},
    {'D', "Nodes",             "NODES",             Needs{},                  node_count,                           node_count_key, kPlain, true},
    {'e', "FreeMem",           "FREE_MEM",          needs(N::FreeMemory),     free_memory,                          least_key<N::FreeMemory>, kExact, true},
    {'E', "Reason",            "REASON",            needs(N::Reason),         reason,                               nullptr, kSplit, true},
    {'f', "Features",          "AVAIL_FEATURES",    needs(N::Features),       text_or_null<N::Features>,            nullptr, kSplit, true},
    {'F', "NodeAIOT",          "NODES(A/I/O/T)",    kStateNeeds,              nodes_aiot,                           nullptr, kPlain, true},
    {'g', "Groups",            "GROUPS",            p(P::AllowGroups),        all_or_list<P::AllowGroups>,          nullptr, kPart, true},
    {'G', "Gres",              "GRES",              needs(N::Gres),           text_or_null<N::Gres>,                nullptr, kSplit, true},
    {'h', "OverSubscribe",     "OVERSUBSCRIBE",     p(P::OverSubscribe),      partition_text_cell<P::OverSubscribe>, nullptr, kPart, true},
    {'H', "TimeStamp",         "TIMESTAMP",         needs(N::Reason, N::ReasonTime), reason_time,                   nullptr, kSplit, true},
    {'i', "Reservation",       "RESERVATION",       needs(N::Reservation),    plain_text<N::Reservation>,           nullptr, kSplit, true},
    {'I', "PriorityJobFactor", "PRIO_JOB_FACTOR",   p(P::PriorityJobFactor),  partition_number_cell<P::PriorityJobFactor>, partition_key<P::PriorityJobFactor>, kPart, true},
    {'l', "Time",              "TIMELIMIT",         p(P::MaxTime),            partition_time<P::MaxTime>,           partition_key<P::MaxTime>, kPart, true},
    {'L', "DefaultTime",       "DEFAULTTIME",       p(P::DefaultTime),        partition_time<P::DefaultTime>,       partition_key<P::DefaultTime>, kPart, true},
    {'m', "Memory",            "MEMORY",            needs(N::RealMemory),     least_cell<N::RealMemory>,            least_key<N::RealMemory>, kExact, true},
    {'M', "PreemptMode",       "PREEMPT_MODE",      p(P::PreemptMode),        partition_text_cell<P::PreemptMode>,  nullptr, kPart, true},
    {'n', "NodeHost",          "HOSTNAMES",         needs(N::Hostname),       plain_text<N::Hostname>,              name_key, kSplit | kWholeHeader, true},
    {'N', "NodeList",          "NODELIST",          needs(N::Name),           names,                                name_key, kWholeHeader, true},
    {'o', "NodeAddr",          "NODE_ADDR",         needs(N::Address),        plain_text<N::Address>,               nullptr, kSplit | kWholeHeader, true},
    {'O', "CPUsLoad",          "CPU_LOAD",          needs(N::Load),           load,                                 least_key<N::Load>, kExact, true},
    {'p', "PriorityTier",      "PRIO_TIER",         p(P::PriorityTier),       partition_number_cell<P::PriorityTier>, partition_key<P::PriorityTier>, kPart, true},
    {'P', "Partition",         "PARTITION",         needs(of_partition(P::Name), of_partition(P::IsDefault)), partition_name, nullptr, kPart, true},
    {'r', "Root",              "ROOT",              p(P::RootOnly),           root_only,                            nullptr, kPart, true},
    {'R', "PartitionName",     "PARTITION",         p(P::Name),               partition_text_cell<P::Name>,         nullptr, kPart, true},
    {'s', "Size",              "JOB_SIZE",          needs(of_partition(P::MinNodes), of_partition(P::MaxNodes)), job_size, partition_key<P::MaxNodes>, kPart, true},
    {'S', "AllocNodes",        "ALLOCNODES",        p(P::AllocNodes),         all_or_list<P::AllocNodes>,           nullptr, kPart, true},
    {'t', "StateCompact",      "STATE",             kStateNeeds,              state_cell<print_node_state_compact>, state_key, kSplit, true},
    {'T', "StateLong",         "STATE",             kStateNeeds,              state_cell<print_node_state>,         state_key, kSplit, true},
    {'u', "User",              "USER",              needs(N::Reason, N::ReasonUser), reason_user,                   nullptr, kSplit, true},
    {'U', "UserLong",          "USER",              needs(N::Reason, N::ReasonUser), reason_user_long,              nullptr, kSplit, true},
    {'v', "Version",           "VERSION",           needs(N::Version),        version,                              nullptr, kSplit, true},
    {'V', "Cluster",           "CLUSTER",           Needs{},                  not_available,                        nullptr, kPlain, true},
    {'w', "Weight",            "WEIGHT",            needs(N::Weight),         least_cell<N::Weight>,                least_key<N::Weight>, kExact, true},
    {'X', "Sockets",           "SOCKETS",           needs(N::Sockets),        least_cell<N::Sockets>,               least_key<N::Sockets>, kExact, true},
    {'Y', "Cores",             "CORES",             needs(N::CoresPerSocket), least_cell<N::CoresPerSocket>,        least_key<N::CoresPerSocket>, kExact, true},
    {'Z', "Threads",           "THREADS",           needs(N::ThreadsPerCore), least_cell<N::ThreadsPerCore>,        least_key<N::ThreadsPerCore>, kExact, true},
    {'z', "SocketCoreThread",  "S:C:T",             needs(N::Sockets, N::CoresPerSocket, N::ThreadsPerCore), sockets_cores_threads, nullptr, kExact, true},
    {0,   "AllocMem",          "ALLOCMEM",          needs(N::AllocMemory),    first_number_cell<N::AllocMemory>,    nullptr, kSplit},
    {0,   "Comment",           "COMMENT",           needs(N::Comment),        text_or_null<N::Comment>,             nullptr, kSplit},
    {0,   "Extra",             "EXTRA",             Needs{},                  null_word},
    {0,   "GresUsed",          "GRES_USED",         needs(N::GresUsed),       text_or_null<N::GresUsed>,            nullptr, kSplit},
    {0,   "Port",              "PORT",              needs(N::Port),           first_number_cell<N::Port>},
    {0,   "StateComplete",     "STATECOMPLETE",     kStateNeeds,              state_cell<complete_state>,           nullptr, kSplit},
};
// clang-format on

}  // namespace

std::span<const NodeField> node_fields() {
    return kNodeFields;
}

}  // namespace sluice
