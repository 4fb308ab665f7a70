#include "model/partition_keys.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/validate.h"

namespace sluice {

namespace {

using enum Kind;
using P = PartitionConfig;
using Change = PartitionChange;

constexpr std::string_view kStates = "UP|DOWN|DRAIN|INACTIVE";
constexpr std::string_view kExclusives = "NO|NODE|USER|TOPO";
constexpr std::string_view kGpuIdleActions = "REPORT|REQUEUE|CANCEL";
constexpr std::string_view kPreemptWords = "OFF|CANCEL|GANG|REQUEUE|SUSPEND|WITHIN|PRIORITY";

template <auto Member>
void put(Change& change, const Value& value) {
    assign(change.members.change(Member), value);
}

// `Choices` are in the order of the enum.
template <auto Member, const std::string_view& Choices>
void put_word(Change& change, const Value& value) {
    const std::vector<std::string_view> words = split(Choices, '|');
    for (std::size_t i = 0; i < words.size(); ++i) {
        auto& member = change.members.change(Member);
        if (words[i] == value.text)
            member = static_cast<std::remove_reference_t<decltype(member)>>(i);
    }
}

// Compat: limits are in whole minutes.
template <auto Member>
void put_time(Change& change, const Value& value) {
    constexpr std::int64_t kMinute = 60;
    auto& limit = change.members.change(Member);
    assign(limit, value);
    if (value.unlimited) return;
    const auto seconds = static_cast<std::int64_t>(value.number);
    limit = TimeLimit{sluice::Seconds{(seconds + kMinute - 1) / kMinute * kMinute}};
}

// A limit per CPU and one per node exclude each other: the later one counts. Zero and UNLIMITED:
// the partition has no limit of its own.
template <auto Member, auto Other>
void put_memory(Change& change, const Value& value) {
    change.members.change(Other).reset();
    auto& limit = change.members.change(Member);
    limit.reset();
    if (!value.unlimited && value.number > 0) limit = value.number;
}

void put_over_subscription(Change& change, const Value& value) {
    // Compat: EXCLUSIVE is the old word for Exclusive=NODE, which any other word ends.
    const bool is_alone = equals_ignoring_case(value.text, "EXCLUSIVE");
    if (is_alone)
        change.members.change(&P::exclusive) = PartitionExclusive::Node;
    else
        change.ended = PartitionExclusive::Node;
    change.members.change(&P::oversubscribe) =
        is_alone ? OverSubscription{} : *parse_over_subscription(value.text);
}

template <PartitionExclusive Which>
void put_exclusive(Change& change, const Value& value) {
    if (value.number != 0)
        change.members.change(&P::exclusive) = Which;
    else
        change.ended = Which;
}

// Compat: what Slurm called Priority before it was split in two.
void put_priority(Change& change, const Value& value) {
    put<&P::priority_tier>(change, value);
    put<&P::priority_job_factor>(change, value);
}

void put_over_time_limit(Change& change, const Value& value) {
    const std::uint64_t minutes = value.unlimited ? 0xffffffff : value.number / 60;
    change.members.change(&P::over_time_limit) = static_cast<std::uint32_t>(minutes);
}

void put_alloc_nodes(Change& change, const Value& value) {
    const bool has_all = value.text.empty() || equals_ignoring_case(value.text, "ALL");
    change.members.change(&P::allow_alloc_nodes) =
        has_all ? std::vector<std::string>{} : Hostlist::parse(value.text).value().names();
}

void put_alternate(Change& change, const Value& value) {
    const bool has_none = equals_ignoring_case(value.text, "NONE");
    change.members.change(&P::alternate) = has_none ? "" : value.text;
}

void put_qos(Change& change, const Value& value) {
    change.members.change(&P::qos) = to_lower(value.text);
}

// An empty value: the cluster's.
void put_preempt_mode(Change& change, const Value& value) {
    std::optional<PreemptWords>& words = change.members.change(&P::preempt_mode);
    words.reset();
    if (!value.text.empty()) words = parse_preempt_words(value.text);
}

void put_job_defaults(Change& change, const Value& value) {
    std::optional<std::uint32_t>& cpus = change.members.change(&P::def_cpus_per_gpu);
    std::optional<Megabytes>& memory = change.members.change(&P::def_mem_per_gpu);
    cpus.reset();
    memory.reset();
    for (std::string_view entry : split(value.text, ',')) {
        if (trim(entry).empty()) continue;
        const std::size_t equals = entry.find('=');
        const std::uint64_t count = to_number(trim(entry.substr(equals + 1))).value_or(0);
        if (equals_ignoring_case(trim(entry.substr(0, equals)), "DefCpuPerGPU"))
            cpus = static_cast<std::uint32_t>(count);
        else
            memory = count;
    }
}

constexpr bool kActs = false;  // not only shown
using enum KeyUse;

// clang-format off
constexpr Key<Change> kPartitionKeys[] = {
    {"PartitionName",        Text,           "",  put<&P::name>, {}, kActs, File},
    {"Nodes",                Text,           "",  put<&P::nodes_text>, {}, kActs, File},
    {"Nodes",                Hosts,          "",  put<&P::nodes_text>, {}, kActs, Command},
    {"AllocNodes",           Hosts,          "ALL", put_alloc_nodes},
    {"AllowAccounts",        Text,           "",  put<&P::allow_accounts>},
    {"AllowGroups",          Text,           "ALL", put<&P::allow_groups>},
    {"AllowQos",             Text,           "",  put<&P::allow_qos>},
    {"Alternate",            Text,           "",  put_alternate},
    {"Default",              YesNo,          "",  put<&P::is_default>},
    {"DefaultTime",          Limit,          "",  put_time<&P::default_time>},
    {"DefCpuPerGPU",         Number,         "",  put<&P::def_cpus_per_gpu>, {}, kActs, File},
    {"DefMemPerCPU",         MemoryOrMax,    "",  put_memory<&P::def_mem_per_cpu, &P::def_mem_per_node>},
    {"DefMemPerGPU",         Memory,         "",  put<&P::def_mem_per_gpu>, {}, kActs, File},
    {"DefMemPerNode",        MemoryOrMax,    "",  put_memory<&P::def_mem_per_node, &P::def_mem_per_cpu>},
    {"DenyAccounts",         Text,           "",  put<&P::deny_accounts>},
    {"DenyQos",              Text,           "",  put<&P::deny_qos>},
    {"DisableRootJobs",      YesNo,          "",  put<&P::disable_root_jobs>},
    {"Exclusive",            Word,           "",  put_word<&P::exclusive, kExclusives>, kExclusives, kActs, File},
    {"Exclusive",            Word,           "",  put_word<&P::exclusive, kExclusives>, "NO|NODE|USER", kActs, Command},
    {"ExclusiveTopo",        YesNo,          "",  put_exclusive<PartitionExclusive::Topo>, {}, kActs, File},
    {"ExclusiveUser",        YesNo,          "",  put_exclusive<PartitionExclusive::User>},
    {"GpuHungWarn",          Limit,          "0", put<&P::gpu_hung_warn>},
    {"GpuIdleAction",        Word,           "REPORT", put_word<&P::gpu_idle_action, kGpuIdleActions>, kGpuIdleActions},
    {"GpuIdleExemptQos",     Text,           "",  put<&P::gpu_idle_exempt_qos>},
    {"GpuIdleGrace",         Limit,          "0", put<&P::gpu_idle_grace>},
    {"GpuIdlePercent",       Number,         "5", put<&P::gpu_idle_percent>},
    {"GpuIdleWarn",          Limit,          "0", put<&P::gpu_idle_warn>},
    {"GraceTime",            Seconds,        "0", put<&P::grace_time>},
    {"Hidden",               YesNo,          "",  put<&P::hidden>},
    {"JobDefaults",          JobDefaults,    "",  put_job_defaults, {}, kActs, Command},
    {"LLN",                  YesNo,          "NO", put<&P::lln>},
    {"MaxCPUsPerNode",       NumberOrMax,    "",  put<&P::max_cpus_per_node>},
    {"MaxCPUsPerSocket",     NumberOrMax,    "UNLIMITED", put<&P::max_cpus_per_socket>},
    {"MaxMemPerCPU",         MemoryOrMax,    "",  put_memory<&P::max_mem_per_cpu, &P::max_mem_per_node>},
    {"MaxMemPerNode",        MemoryOrMax,    "",  put_memory<&P::max_mem_per_node, &P::max_mem_per_cpu>},
    {"MaxNodes",             NumberOrMax,    "",  put<&P::max_nodes>},
    {"MaxTime",              Limit,          "",  put_time<&P::max_time>},
    {"MinNodes",             Number,         "",  put<&P::min_nodes>},
    {"OverSubscribe",        OverSubscribe,  "NO", put_over_subscription},
    {"Shared",               OverSubscribe,  "NO", put_over_subscription},
    {"OverTimeLimit",        Minutes,        "0", put_over_time_limit, {}, kActs, File},
    {"PreemptMode",          Words,          "OFF", put_preempt_mode, kPreemptWords},
    {"Priority",             Priority,       "",  put_priority},
    {"PriorityJobFactor",    Priority,       "1", put<&P::priority_job_factor>},
    {"PriorityTier",         Priority,       "",  put<&P::priority_tier>},
    {"QOS",                  Text,           "",  put_qos},
    {"ReqResv",              YesNo,          "NO", put<&P::req_resv>},
    {"RootOnly",             YesNo,          "",  put<&P::root_only>},
    {"State",                Word,           "",  put_word<&P::state, kStates>, kStates},
    {"TRESBillingWeights",   Text,           "",  put<&P::tres_billing_weights>, {}, kActs, File},
    {"CpuBind",              Text,           "none", nullptr, {}, kActs, File},
    {"PowerDownOnIdle",      YesNo,          "no", put<&P::power_down_on_idle>},
    {"ResumeTimeout",        Seconds,        "",  put<&P::resume_timeout>},
    {"SelectTypeParameters", Text,           "",  nullptr, {}, kActs, File},
    {"SuspendTime",          SecondsOrNever, "INFINITE", put<&P::suspend_time>},
    {"SuspendTimeout",       Seconds,        "",  put<&P::suspend_timeout>},
    {"Topology",             Text,           "",  nullptr, {}, kActs, File},
};
// clang-format on

// The value of a command. An empty list of hosts or of words removes what was there.
Result<Value> parse_given(const Key<Change>& key, const std::string& text) {
    if (text.empty() && (key.kind == Hosts || key.kind == Words)) return Value{};
    // Compat: the file knows more words for YES and NO.
    const bool is_yes_no = equals_ignoring_case(text, "YES") || equals_ignoring_case(text, "NO");
    Result<Value> value = parse_value(key.kind, key.choices, text);
    if (value && (key.kind != YesNo || is_yes_no)) return value;
    return Error{
        ErrorCode::BadArgument,
        fmt::format("{}={}: {} is needed", key.name, text,
                    key.kind == YesNo ? "YES or NO" : valid_values(key.kind, key.choices))};
}

}  // namespace

std::span<const Key<PartitionChange>> partition_keys() {
    return kPartitionKeys;
}

Result<PartitionChange> parse_partition_change(const KeyTexts& given) {
    PartitionChange change;
    for (const auto& [name, text] : given) {
        const Key<Change>* key =
            name.empty() ? nullptr : find_key(partition_keys(), name, KeyUse::Command);
        if (!key) return Error{ErrorCode::UnknownField, fmt::format("{}={}", name, text)};
        const Value value = TRY(parse_given(*key, text));
        key->set(change, value);
    }
    TRY(validate(change));
    return change;
}

}  // namespace sluice
