// surface/partition_table.cc
//
// The properties of partitions: fields of sinfo, keys of scontrol show partition, JSON. Compat:
// Open OnDemand wants every word of a record to be Key=Value with a value.
#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "surface/nodes.h"
#include "surface/properties.h"

namespace sluice {

namespace {

using P = PartitionColumn;

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

// Where a list of the allowed is given, the list of the denied does not count: the record has one
// of the two.
template <P Allowed, P Denied>
bool denies(const SheetRow& partition) {
    const std::string_view allowed = partition.text(Allowed);
    return !partition.text(Denied).empty() && (allowed.empty() || allowed == "ALL");
}
template <P Allowed, P Denied>
void allowed_names(const SheetRow& partition, std::string& out) {
    if (!denies<Allowed, Denied>(partition)) text_cell<Allowed, "ALL">(partition, out);
}
template <P Allowed, P Denied>
void denied_names(const SheetRow& partition, std::string& out) {
    if (denies<Allowed, Denied>(partition)) out += partition.text(Denied);
}

// A limit of memory is per CPU or per node: the record has one of the two.
template <P PerCpu>
void memory_per_cpu(const SheetRow& partition, std::string& out) {
    if (partition.has(PerCpu)) number_or<PerCpu, "UNLIMITED">(partition, out);
}
template <P PerCpu, P PerNode>
void memory_per_node(const SheetRow& partition, std::string& out) {
    if (!partition.has(PerCpu)) number_or<PerNode, "UNLIMITED">(partition, out);
}

void over_time_limit(const SheetRow& partition, std::string& out) {
    if (partition.number(P::OverTimeLimit) == 0) {
        out += "NONE";
    } else {
        number_or<P::OverTimeLimit, "UNLIMITED">(partition, out);
    }
}
void write_over_time_limit(const SheetRow& partition, Json& json, std::string_view key) {
    const std::int64_t limit = partition.number(P::OverTimeLimit);
    json.optional_number(key, limit == 0 ? kAbsent : limit);
}

void suspend_time(const SheetRow& partition, std::string& out) {
    const std::int64_t seconds = partition.number(P::SuspendTime);
    if (seconds == kUnlimited) out += "INFINITE";
    if (seconds != kUnlimited && seconds != kAbsent) append_number(seconds, out);
}
void power_down_on_idle(const SheetRow& partition, std::string& out) {
    if (partition.number(P::PowerDownOnIdle) == 1) out += "YES";
}

void write_state(const SheetRow& partition, Json& json, std::string_view key) {
    json.texts(key, {std::string(partition.text(P::State))});
}

void write_flags(const SheetRow& partition, Json& json, std::string_view key) {
    constexpr std::pair<P, std::string_view> kWords[] = {
        {P::IsDefault, "DEFAULT"},  {P::Hidden, "HIDDEN"},    {P::DisableRootJobs, "NO_ROOT"},
        {P::RootOnly, "ROOT_ONLY"}, {P::ReqResv, "REQ_RESV"}, {P::Lln, "LLN"}};
    json.open_list(key);
    for (const auto& [column, word] : kWords) {
        if (partition.number(column) == 1) json.element(word);
    }
    json.close();
}

// Of "FORCE:4": 4. One job where resources are not shared.
std::int64_t sharing_jobs(const SheetRow& partition) {
    const std::string_view text = partition.text(P::OverSubscribe);
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return text.empty() || text == "NO" ? 1 : 4;
    return static_cast<std::int64_t>(to_number(text.substr(colon + 1)).value_or(1));
}
void write_sharing_jobs(const SheetRow& partition, Json& json, std::string_view key) {
    json.number(key, sharing_jobs(partition));
}
void write_sharing_flags(const SheetRow& partition, Json& json, std::string_view key) {
    json.open_list(key);
    if (partition.text(P::OverSubscribe).starts_with("FORCE")) json.element("force");
    json.close();
}

void write_preempt_mode(const SheetRow& partition, Json& json, std::string_view key) {
    json.open_list(key);
    for (std::string_view word : split(partition.text(P::PreemptMode), ',')) {
        if (!word.empty()) json.element(word == "OFF" ? "DISABLED" : word);
    }
    json.close();
}

constexpr std::uint8_t kPart = kOfPartition;
constexpr Cell allowed_accounts = allowed_names<P::AllowAccounts, P::DenyAccounts>;
constexpr Cell denied_accounts = denied_names<P::AllowAccounts, P::DenyAccounts>;
constexpr Cell allowed_qos = allowed_names<P::AllowQos, P::DenyQos>;
constexpr Cell denied_qos = denied_names<P::AllowQos, P::DenyQos>;
constexpr Cell default_per_node = memory_per_node<P::DefMemPerCpu, P::DefMemPerNode>;
constexpr Cell most_per_node = memory_per_node<P::MaxMemPerCpu, P::MaxMemPerNode>;

// clang-format off
constexpr Property<NodeGroup> kProperties[] = {
    {text<P::AllocNodes>, list('S', "AllocNodes", "ALLOCNODES", all_or_list<P::AllocNodes>).with(kPart).sorted(),
     record("AllocNodes", text_cell<P::AllocNodes, "ALL">), json("nodes/allowed_allocation")},
    {text<P::Nodes>,               record("Nodes"), json("nodes/configured")},
    {number<P::TotalNodes>,        record("TotalNodes"), json("nodes/total")},
    {text<P::AllowAccounts>,       record("AllowAccounts", allowed_accounts, kIfSet), json("accounts/allowed")},
    {text<P::DenyAccounts>,        record("DenyAccounts", denied_accounts, kIfSet), json("accounts/deny")},
    {text<P::AllowGroups>, list('g', "Groups", "GROUPS", all_or_list<P::AllowGroups>).with(kPart).sorted(),
     record("AllowGroups", text_cell<P::AllowGroups, "ALL">), json("groups/allowed")},
    {text<P::AllowQos>,            record("AllowQos", allowed_qos, kIfSet), json("qos/allowed")},
    {text<P::DenyQos>,             record("DenyQos", denied_qos, kIfSet), json("qos/deny")},
    {text<P::Qos>,                 record("QoS", text_cell<P::Qos, "N/A">), json("qos/assigned")},
    {text<P::Alternate>,           record("Alternate", kIfSet), json("alternate")},
    {text<P::TresBillingWeights>,  record("TRESBillingWeights", kIfSet), json("tres/billing_weights")},
    {text<P::Tres>,                record("TRES"), json("tres/configured")},
    {word<"">,                     json("cluster")},
    {word<"NONE">,                 record("SelectTypeParameters"), json("select_type", json_no_list)},
    {word<"">,                     json("cpus/task_binding", json_zero).until(44)},
    {word<"">,                     json("cpus/task_binding", json_no_list).since(45)},
    {number<P::TotalCpus>,         record("TotalCPUs"), json("cpus/total")},
    {number<P::DefMemPerCpu>,      json("defaults/memory_per_cpu")},
    {optional_number<P::DefMemPerCpu>, record("DefMemPerCPU", memory_per_cpu<P::DefMemPerCpu>, kIfSet),
     json("defaults/partition_memory_per_cpu")},
    {optional_number<P::DefMemPerNode>, record("DefMemPerNode", default_per_node, kIfSet),
     json("defaults/partition_memory_per_node")},
    {number<P::DefaultTime>,
     list('L', "DefaultTime", "DEFAULTTIME", partition_time<P::DefaultTime>).with(kPart).sorted(partition_key<P::DefaultTime>),
     record("DefaultTime", long_duration_cell<P::DefaultTime, "NONE">),
     json("defaults/time", json_minutes<P::DefaultTime>)},
    {text<P::JobDefaults>,         record("JobDefaults"), json("defaults/job")},
    {made_of(P::IsDefault, P::Hidden, P::DisableRootJobs, P::RootOnly, P::ReqResv, P::Lln),
     json("flags", write_flags).since(45)},
    {text<P::Exclusive>, record("Exclusive", text_cell<P::Exclusive, "NO">), json("partition/exclusive").since(45)},
    {text<P::OverSubscribe>,
     list('h', "OverSubscribe", "OVERSUBSCRIBE", partition_text_cell<P::OverSubscribe>).with(kPart).sorted(),
     record("OverSubscribe", text_cell<P::OverSubscribe, "NO">), json("partition/oversubscribe").since(45)},
    {text<P::State>, list('a', "Available", "AVAIL", avail).with(kPart).sorted(),
     record("State", text_cell<P::State, "UP">), json("partition/state", write_state)},
    {number<P::GraceTime>,         record("GraceTime"), json("grace_time")},
    {optional_number<P::MaxCpusPerNode>,
     list('B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE", cpus_per_node_max).with(kPart).sorted(partition_key<P::MaxCpusPerNode>),
     record("MaxCPUsPerNode", number_or<P::MaxCpusPerNode, "UNLIMITED">), json("maximums/cpus_per_node")},
    {optional_number<P::MaxCpusPerSocket>, record("MaxCPUsPerSocket", number_or<P::MaxCpusPerSocket, "UNLIMITED">),
     json("maximums/cpus_per_socket")},
    {number<P::MaxMemPerCpu>,      json("maximums/memory_per_cpu")},
    {optional_number<P::MaxMemPerCpu>, record("MaxMemPerCPU", memory_per_cpu<P::MaxMemPerCpu>, kIfSet),
     json("maximums/partition_memory_per_cpu")},
    {optional_number<P::MaxMemPerNode>, record("MaxMemPerNode", most_per_node, kIfSet),
     json("maximums/partition_memory_per_node")},
    {optional_number<P::MaxNodes>, record("MaxNodes", number_or<P::MaxNodes, "UNLIMITED">), json("maximums/nodes")},
    {made_of(P::OverSubscribe),    json("maximums/shares", write_sharing_jobs)},
    {made_of(P::OverSubscribe),    json("maximums/oversubscribe/jobs", write_sharing_jobs)},
    {made_of(P::OverSubscribe),    json("maximums/oversubscribe/flags", write_sharing_flags)},
    {number<P::MaxTime>,
     list('l', "Time", "TIMELIMIT", partition_time<P::MaxTime>).with(kPart).sorted(partition_key<P::MaxTime>),
     record("MaxTime", long_duration_cell<P::MaxTime, "UNLIMITED">), json("maximums/time", json_minutes<P::MaxTime>)},
    {number<P::OverTimeLimit>, record("OverTimeLimit", over_time_limit),
     json("maximums/over_time_limit", write_over_time_limit)},
    {number<P::MinNodes>,          record("MinNodes"), json("minimums/nodes")},
    {text<P::Name>, list('R', "PartitionName", "PARTITION", partition_text_cell<P::Name>).with(kPart).sorted(),
     record("PartitionName", text_cell<P::Name, "">), json("name")},
    {text<P::NodeSets>,            record("NodeSets", kIfSet), json("node_sets")},
    {text<P::PreemptMode>,
     list('M', "PreemptMode", "PREEMPT_MODE", partition_text_cell<P::PreemptMode>).with(kPart).sorted(),
     record("PreemptMode", text_cell<P::PreemptMode, "OFF">), json("preempt_mode", write_preempt_mode).since(45)},
    {number<P::PriorityJobFactor>,
     list('I', "PriorityJobFactor", "PRIO_JOB_FACTOR", partition_number_cell<P::PriorityJobFactor>).with(kPart).sorted(partition_key<P::PriorityJobFactor>),
     record("PriorityJobFactor"), json("priority/job_factor")},
    {number<P::PriorityTier>,
     list('p', "PriorityTier", "PRIO_TIER", partition_number_cell<P::PriorityTier>).with(kPart).sorted(partition_key<P::PriorityTier>),
     record("PriorityTier"), json("priority/tier")},
    {text<P::GpuPolicy>,           record("GpuPolicy", text_cell<P::GpuPolicy, "">, kIfSet)},
    {optional_number<P::ResumeTimeout>, record("ResumeTimeout", number_or<P::ResumeTimeout, "">, kIfSet), json("timeouts/resume")},
    {optional_number<P::SuspendTimeout>, record("SuspendTimeout", number_or<P::SuspendTimeout, "">, kIfSet), json("timeouts/suspend")},
    {word<"">,                     json("topology").since(43)},
    {optional_number<P::SuspendTime>, record("SuspendTime", suspend_time, kIfSet), json("suspend_time")},
    // In no JSON of their own.
    {made_of(P::Name, P::IsDefault), list('P', "Partition", "PARTITION", partition_name).with(kPart).sorted()},
    {made_of(P::MinNodes, P::MaxNodes),
     list('s', "Size", "JOB_SIZE", job_size).with(kPart).sorted(partition_key<P::MaxNodes>)},
    {flag<P::IsDefault>,           record("Default")},
    {flag<P::DisableRootJobs>,     record("DisableRootJobs")},
    {flag<P::Hidden>,              record("Hidden")},
    {flag<P::Lln>,                 record("LLN")},
    {flag<P::PowerDownOnIdle>,     record("PowerDownOnIdle", power_down_on_idle, kIfSet)},
    {flag<P::ReqResv>,             record("ReqResv")},
    {flag<P::RootOnly>,            list('r', "Root", "ROOT", root_only).with(kPart).sorted(), record("RootOnly")},
};
// clang-format on

constexpr std::string_view kRecord[] = {
    "PartitionName",
    "AllowGroups AllowAccounts DenyAccounts AllowQos DenyQos",
    "AllocNodes Alternate Default QoS",
    "DefaultTime DisableRootJobs Exclusive GraceTime Hidden",
    "MaxNodes MaxTime MinNodes LLN MaxCPUsPerNode MaxCPUsPerSocket",
    "NodeSets",
    "Nodes",
    "PriorityJobFactor PriorityTier RootOnly ReqResv OverSubscribe",
    "OverTimeLimit PreemptMode",
    "State TotalCPUs TotalNodes SelectTypeParameters",
    "ResumeTimeout SuspendTimeout SuspendTime PowerDownOnIdle",
    "JobDefaults",
    "DefMemPerCPU DefMemPerNode MaxMemPerCPU MaxMemPerNode",
    "TRES",
    "TRESBillingWeights",
    "GpuPolicy",
};

}  // namespace

std::span<const Property<NodeGroup>> partition_properties() {
    return kProperties;
}

void append_partition_record(const SheetRow& partition, const RecordStyle& style,
                             std::string& out) {
    static const RecordLayout layout(record_keys<NodeGroup>(kProperties), kRecord);
    layout.append(partition, style, out);
}

void write_partition(const SheetRow& partition, Json& json) {
    static const std::vector<JsonKey> keys = json_keys<NodeGroup>(kProperties);
    write_json(keys, partition, json);
}

std::string partitions_json(const Sheet& partitions, const JsonMeta& meta) {
    return json_document("partitions", json_keys<NodeGroup>(kProperties), partitions, meta);
}

}  // namespace sluice
