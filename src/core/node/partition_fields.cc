// See partition_fields.h.
#include "core/node/partition_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/quantity.h"
#include "model/times.h"

namespace sluice {

namespace {

using P = PartitionConfig;
// Returns what a valid value looks like; empty: the value is valid.
using SetPartition = std::string_view (*)(P& config, const std::string& value);

constexpr std::uint64_t kPartitionPriorityMax = 65533;  // also the maximum of jobs that share a CPU

bool is_unlimited(const std::string& value) {
    return equals_ignoring_case(value, "UNLIMITED") || equals_ignoring_case(value, "INFINITE");
}

template <auto Member>
std::string_view number(P& config, const std::string& value) {
    std::optional<std::uint64_t> parsed = to_number(value);
    if (!parsed || *parsed > 0xfffffffe) return "a number";
    config.*Member = static_cast<std::uint32_t>(*parsed);
    return {};
}

template <auto Member>
std::string_view number_or_max(P& config, const std::string& value) {
    if (!is_unlimited(value))
        return number<Member>(config, value).empty() ? "" : "a number or UNLIMITED";
    (config.*Member).reset();
    return {};
}

template <auto Member>
std::string_view yes_no(P& config, const std::string& value) {
    bool yes = equals_ignoring_case(value, "YES");
    if (!yes && !equals_ignoring_case(value, "NO")) return "YES or NO";
    config.*Member = yes;
    return {};
}

template <auto Member>
std::string_view time(P& config, const std::string& value) {
    Result<TimeLimit> limit = parse_job_time_limit(value);
    if (!limit) return "a time";
    config.*Member = *limit;
    return {};
}

// ALL and an empty value mean no restriction.
template <auto Member>
std::string_view list(P& config, const std::string& value) {
    (config.*Member).clear();
    if (equals_ignoring_case(value, "ALL")) return {};
    for (std::string_view name : split(value, ',')) {
        if (!trim(name).empty()) (config.*Member).emplace_back(trim(name));
    }
    return {};
}

// Of the two limits only one is set at a time.
template <auto Member, auto Other>
std::string_view memory(P& config, const std::string& value) {
    Result<Megabytes> size = is_unlimited(value) ? Result<Megabytes>(0) : parse_memory(value);
    if (!size) return "a size such as 4G";
    (config.*Other).reset();
    (config.*Member).reset();
    if (*size > 0) config.*Member = *size;
    return {};
}

std::string_view set_state(P& config, const std::string& value) {
    for (std::string_view state : {"UP", "DOWN", "DRAIN", "INACTIVE"}) {
        if (!equals_ignoring_case(state, value)) continue;
        config.state = state;
        return {};
    }
    return "UP, DOWN, DRAIN or INACTIVE";
}

std::string_view set_grace_time(P& config, const std::string& value) {
    std::optional<std::uint64_t> seconds = to_number(value);
    if (!seconds || *seconds > 0xffffffff) return "a number of seconds";
    config.grace_time = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

// An empty value: the partition has no nodes.
std::string_view set_nodes(P& config, const std::string& value) {
    Result<Hostlist> hosts = value.empty() ? Hostlist() : Hostlist::parse(value);
    if (!hosts) return "a list of nodes";
    config.nodes = hosts->names();
    config.nodes_text = value;
    config.node_sets.clear();
    return {};
}

template <auto... Members>
std::string_view priority(P& config, const std::string& value) {
    std::optional<std::uint64_t> parsed = to_number(value);
    if (!parsed || *parsed > kPartitionPriorityMax) return "a number up to 65533";
    ((config.*Members = static_cast<std::uint32_t>(*parsed)), ...);
    return {};
}

std::string_view set_alloc_nodes(P& config, const std::string& value) {
    config.allow_alloc_nodes.clear();
    if (value.empty() || equals_ignoring_case(value, "ALL")) return {};
    Result<Hostlist> hosts = Hostlist::parse(value);
    if (!hosts) return "ALL or a list of hosts";
    config.allow_alloc_nodes = hosts->names();
    return {};
}

std::string_view set_alternate(P& config, const std::string& value) {
    config.alternate = equals_ignoring_case(value, "NONE") ? "" : value;
    return {};
}

std::string_view set_exclusive(P& config, const std::string& value) {
    for (std::string_view word : {"NO", "NODE", "USER"}) {
        if (!equals_ignoring_case(word, value)) continue;
        config.exclusive = word;
        return {};
    }
    return "NO, NODE or USER";
}

std::string_view set_exclusive_user(P& config, const std::string& value) {
    if (equals_ignoring_case(value, "YES"))
        config.exclusive = "USER";
    else if (!equals_ignoring_case(value, "NO"))
        return "YES or NO";
    else if (config.exclusive == "USER")
        config.exclusive = "NO";
    return {};
}

// Compat: EXCLUSIVE is the old word for Exclusive=NODE, which any other word resets; the default
// count is four.
std::string_view set_oversubscribe(P& config, const std::string& value) {
    constexpr std::string_view kRight = "NO, EXCLUSIVE, YES:COUNT or FORCE:COUNT";
    const std::string_view text = value, word = text.substr(0, text.find(':'));
    const bool forces = equals_ignoring_case(word, "FORCE");
    const bool shares = forces || equals_ignoring_case(word, "YES");
    const bool alone = equals_ignoring_case(text, "EXCLUSIVE");
    if (!shares && !alone && !equals_ignoring_case(text, "NO")) return kRight;
    const std::uint64_t count =
        word == text ? 4 : to_number(text.substr(word.size() + 1)).value_or(0);
    if (shares && (count == 0 || count > kPartitionPriorityMax)) return kRight;
    if (alone)
        config.exclusive = "NODE";
    else if (config.exclusive == "NODE")
        config.exclusive = "NO";
    config.oversubscribe = shares ? fmt::format("{}:{}", forces ? "FORCE" : "YES", count) : "NO";
    return {};
}

std::string_view set_partition_qos(P& config, const std::string& value) {
    config.qos = to_lower(value);
    return {};
}

// An empty value: the cluster's setting.
std::string_view set_preempt_mode(P& config, const std::string& value) {
    for (std::string_view mode : {"", "OFF", "CANCEL", "REQUEUE", "SUSPEND"}) {
        if (!equals_ignoring_case(mode, value)) continue;
        config.preempt_mode = mode;
        return {};
    }
    return "OFF, CANCEL, REQUEUE or SUSPEND";
}

std::string_view set_job_defaults(P& config, const std::string& value) {
    constexpr std::string_view kRight = "DefCpuPerGPU=COUNT and DefMemPerGPU=MEGABYTES";
    config.def_cpus_per_gpu.reset();
    config.def_mem_per_gpu.reset();
    for (std::string_view entry : split(value, ',')) {
        if (trim(entry).empty()) continue;
        const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
        const std::string_view name = trim(entry.substr(0, equals));
        const std::optional<std::uint64_t> count = to_number(trim(entry.substr(equals + 1)));
        if (!count || *count > 0xfffffffe) return kRight;
        if (equals_ignoring_case(name, "DefCpuPerGPU"))
            config.def_cpus_per_gpu = static_cast<std::uint32_t>(*count);
        else if (equals_ignoring_case(name, "DefMemPerGPU"))
            config.def_mem_per_gpu = *count;
        else
            return kRight;
    }
    std::vector<std::string> given;
    if (config.def_cpus_per_gpu)
        given.push_back(fmt::format("DefCpuPerGPU={}", *config.def_cpus_per_gpu));
    if (config.def_mem_per_gpu)
        given.push_back(fmt::format("DefMemPerGPU={}", *config.def_mem_per_gpu));
    config.job_defaults = join(given, ",");
    return {};
}

struct PartitionKey {
    std::string_view key;
    SetPartition set;
};

constexpr PartitionKey kPartitionKeys[] = {
    {"AllocNodes", set_alloc_nodes},
    {"AllowAccounts", list<&P::allow_accounts>},
    {"AllowGroups", list<&P::allow_groups>},
    {"AllowQos", list<&P::allow_qos>},
    {"Alternate", set_alternate},
    {"Default", yes_no<&P::is_default>},
    {"DefaultTime", time<&P::default_time>},
    {"DefMemPerCPU", memory<&P::def_mem_per_cpu, &P::def_mem_per_node>},
    {"DefMemPerNode", memory<&P::def_mem_per_node, &P::def_mem_per_cpu>},
    {"DenyAccounts", list<&P::deny_accounts>},
    {"DenyQos", list<&P::deny_qos>},
    {"DisableRootJobs", yes_no<&P::disable_root_jobs>},
    {"Exclusive", set_exclusive},
    {"ExclusiveUser", set_exclusive_user},
    {"GraceTime", set_grace_time},
    {"Hidden", yes_no<&P::hidden>},
    {"JobDefaults", set_job_defaults},
    {"LLN", yes_no<&P::lln>},
    {"MaxCPUsPerNode", number_or_max<&P::max_cpus_per_node>},
    {"MaxCPUsPerSocket", number_or_max<&P::max_cpus_per_socket>},
    {"MaxMemPerCPU", memory<&P::max_mem_per_cpu, &P::max_mem_per_node>},
    {"MaxMemPerNode", memory<&P::max_mem_per_node, &P::max_mem_per_cpu>},
    {"MaxNodes", number_or_max<&P::max_nodes>},
    {"MaxTime", time<&P::max_time>},
    {"MinNodes", number<&P::min_nodes>},
    {"Nodes", set_nodes},
    {"OverSubscribe", set_oversubscribe},
    {"PreemptMode", set_preempt_mode},
    {"Priority", priority<&P::priority_tier, &P::priority_job_factor>},
    {"PriorityJobFactor", priority<&P::priority_job_factor>},
    {"PriorityTier", priority<&P::priority_tier>},
    {"QOS", set_partition_qos},
    {"ReqResv", yes_no<&P::req_resv>},
    {"RootOnly", yes_no<&P::root_only>},
    {"Shared", set_oversubscribe},
    {"State", set_state},
};

}  // namespace

Result<void> set_partition_field(P& config, const std::string& key, const std::string& value) {
    for (const PartitionKey& row : kPartitionKeys) {
        if (!equals_ignoring_case(row.key, key)) continue;
        std::string_view right = row.set(config, value);
        if (right.empty()) return {};
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}={}: {} is needed", row.key, value, right)};
    }
    return Error{ErrorCode::UnknownField, fmt::format("{}={}", key, value)};
}

}  // namespace sluice
