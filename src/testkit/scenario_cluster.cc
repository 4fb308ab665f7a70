// The lines of a scenario that describe the cluster: nodes, partitions, switches, settings.
#include <algorithm>

#include "model/hostlist.h"
#include "model/license.h"
#include "model/partition_keys.h"
#include "model/times.h"
#include "testkit/scenario.h"
#include "testkit/scenario_words.h"

namespace sluice {

namespace {

TimeLimit minutes_or_never(const std::string& text) {
    return text == "never" ? TimeLimit{} : TimeLimit{Minutes{as_number(text)}};
}

PowerSettings power_in(const ScenarioWords& options) {
    PowerSettings power;
    power.enabled = options.contains("power");
    power.has_resume_fail_program = options.contains("resumefail");
    power.suspend_time = minutes_or_never(option(options, "suspend", "never"));
    power.suspend_timeout = Minutes{as_number(option(options, "suspendtimeout", "1"))};
    power.suspend_rate = as_number(option(options, "suspendrate", "0"));
    power.resume_rate = as_number(option(options, "resumerate", "0"));
    power.idle_on_suspend = options.contains("idleonsuspend");
    power.except_partitions = list_in(options, "excparts");
    power.except_down = options.contains("excdown");
    if (options.contains("excdrain")) power.except_states = kNodeDrain;
    if (options.contains("excnodes")) {
        const std::string& text = options.at("excnodes");
        const std::size_t colon = text.find(':');
        PowerException& kept = power.except_nodes.emplace_back();
        kept.nodes = Hostlist::parse(text.substr(0, colon)).value().names();
        if (colon != std::string::npos) kept.count = as_number(text.substr(colon + 1));
    }
    return power;
}

void set_partition_rules(PartitionConfig& partition, const ScenarioWords& options) {
    auto count = [&](const std::string& key) -> std::optional<std::uint32_t> {
        return options.contains(key) ? std::optional(as_number(options.at(key))) : std::nullopt;
    };
    partition.alternate = option(options, "alternate");
    partition.allow_groups = list_in(options, "groups");
    partition.allow_accounts = list_in(options, "accounts");
    partition.deny_accounts = list_in(options, "denyaccounts");
    partition.allow_alloc_nodes = list_in(options, "hosts");
    partition.root_only = options.contains("rootonly");
    partition.disable_root_jobs = options.contains("norootjobs");
    partition.req_resv = options.contains("reqresv");
    partition.lln = options.contains("lln");
    partition.def_mem_per_gpu = count("gpumem");
    partition.min_nodes = count("minnodes").value_or(0);
    partition.max_cpus_per_node = count("maxcpus");
    partition.max_cpus_per_socket = count("maxsocketcpus");
    partition.max_mem_per_cpu = count("maxmemcpu");
    partition.max_mem_per_node = count("maxmemnode");
    partition.qos = option(options, "qos");
    partition.tres_billing_weights = option(options, "weights");
    if (options.contains("suspend"))
        partition.suspend_time = minutes_or_never(options.at("suspend"));
    if (auto timeout = count("suspendtimeout")) partition.suspend_timeout = Minutes{*timeout};
    if (auto timeout = count("resume")) partition.resume_timeout = Minutes{*timeout};
    partition.power_down_on_idle = options.contains("downonidle");
    const std::pair<const char*, const char*> keys[] = {{"state", "State"},
                                                        {"exclusive", "Exclusive"},
                                                        {"oversubscribe", "OverSubscribe"},
                                                        {"mode", "PreemptMode"}};
    KeyTexts given;
    for (const auto& [word, key] : keys) {
        if (options.contains(word)) given.emplace_back(key, options.at(word));
    }
    parse_partition_change(given).value().apply_to(partition);
}

}  // namespace

// What gres.conf says of the node.
static void describe_devices(NodeConfig& node, const ScenarioWords& options,
                             std::vector<GresDevices>& described) {
    auto lists = [&](const char* key) {
        return options.contains(key) ? split(options.at(key), '|')
                                     : std::vector<std::string_view>{};
    };
    const std::vector<std::string_view> cores = lists("gpucores"), links = lists("gpulinks");
    for (std::string_view list : cores) {  // as many GPUs for each list of cores
        GresDevices& line = described.emplace_back();
        line.name = "gpu";
        line.type = node.gres.at(0).type;
        line.count = node.gres.at(0).count / cores.size();
        line.cores = list;
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
        GresDevices& line = described.emplace_back();
        line.name = "gpu";
        line.type = node.gres.at(0).type;
        line.files = {fmt::format("/dev/nvidia{}", i)};
        line.count = 1;
        line.links = links[i];
    }
    if (options.contains("parts")) {
        const std::string& text = options.at("parts");
        const std::size_t colon = text.find(':');
        std::size_t gpu = 0;
        for (std::string_view count : split(std::string_view(text).substr(colon + 1), ',')) {
            const std::string file = fmt::format("/dev/nvidia{}", gpu++);
            described.push_back(
                {.name = "gpu", .type = node.gres.at(0).type, .files = {file}, .count = 1});
            described.push_back({.name = text.substr(0, colon),
                                 .type = {},
                                 .files = {file},
                                 .count = as_number(std::string(count))});
        }
    }
    if (options.contains("explicit")) {
        GresDevices& line = described.emplace_back();
        line.name = options.at("explicit");
        line.count = 1;
        line.flags = "explicit";
    }
    if (options.contains("noconsume")) node.gres_no_consume = {options.at("noconsume")};
    node.restricted_cores_per_gpu = as_number(option(options, "gpuspec", "0"));
}

void Scenario::add_nodes(const std::string& names, const Words& options) {
    for (const std::string& name : Hostlist::parse(names).value().names()) {
        NodeConfig node{.name = name, .hostname = name, .address = name};
        node.cpus = as_number(option(options, "cpus", "1"));
        node.cores_per_socket = as_number(option(options, "cores", "1"));
        node.threads_per_core = as_number(option(options, "threads", "1"));
        node.sockets = std::max(1u, node.cpus / (node.cores_per_socket * node.threads_per_core));
        node.core_spec_count = as_number(option(options, "spec", "0"));
        if (options.contains("speclist")) {
            TaskSet::parse(options.at("speclist")).value().for_each([&](std::uint32_t cpu) {
                node.cpu_spec_list.push_back(cpu);
            });
        }
        node.mem_spec_limit = as_number(option(options, "memspec", "0"));
        node.real_memory = as_number(option(options, "mem", "1000"));
        node.weight = as_number(option(options, "weight", "1"));
        if (options.contains("gres")) node.gres = parse_gres(options.at("gres")).value();
        describe_devices(node, options, settings_.gres[name]);
        if (options.contains("feature")) node.features = {options.at("feature")};
        node.state = option(options, "state", "UNKNOWN");
        if (options.contains("suspend"))
            node.suspend_time = minutes_or_never(options.at("suspend"));
        settings_.nodes.push_back(std::move(node));
    }
    settings_.config_overrides = true;
    settings_.requeue_delay = Seconds{0};
}

void Scenario::add_partition(const std::string& name, const Words& options) {
    PartitionConfig partition{.name = name};
    if (options.contains("nodes")) {
        partition.nodes = Hostlist::parse(options.at("nodes")).value().names();
    } else {
        for (const NodeConfig& node : settings_.nodes) partition.nodes.push_back(node.name);
        partition.node_sets = {"ALL"};
    }
    partition.is_default = options.contains("default");
    if (options.contains("maxtime"))
        partition.max_time = parse_time_limit(options.at("maxtime")).value();
    if (options.contains("maxnodes")) partition.max_nodes = as_number(options.at("maxnodes"));
    partition.priority_tier = as_number(option(options, "tier", "1"));
    partition.grace_time = Seconds{as_number(option(options, "grace", "0"))};
    set_partition_rules(partition, options);
    settings_.partitions.push_back(std::move(partition));
}

void Scenario::add_switch(const std::string& name, const ScenarioWords& options) {
    SwitchConfig config{.name = name, .nodes = {}, .switches = {}};
    if (options.contains("nodes"))
        config.nodes = Hostlist::parse(options.at("nodes")).value().names();
    const std::string below_list = option(options, "switches");  // the views below point into it
    for (std::string_view below : split(below_list, ',')) {
        if (!below.empty()) config.switches.emplace_back(below);
    }
    settings_.switches.push_back(std::move(config));
}

std::string Scenario::change_settings(const Words& options) {
    if (options.contains("licenses")) {
        settings_.licenses.clear();
        for (const LicenseCount& license : parse_licenses(options.at("licenses")).value().wanted) {
            settings_.licenses.emplace_back(license.name, license.count);
        }
    }
    if (options.contains("arraymax")) settings_.max_array_size = as_number(options.at("arraymax"));
    settings_.kill_invalid_depend = options.contains("killdep");
    settings_.disable_job_shrink = options.contains("noshrink");
    settings_.permit_job_expansion = options.contains("expansion");
    settings_.hold_on_prolog_failure = !options.contains("nohold");
    settings_.has_epilog = options.contains("epilog");
    settings_.has_controller_prolog = options.contains("ctldprolog");
    settings_.has_controller_epilog = options.contains("ctldepilog");
    settings_.prolog_rules = {
        .at_allocation = options.contains("alloc") || options.contains("contain"),
        .contains = options.contains("contain"),
        .holds = options.contains("holds"),
        .holds_for_all = options.contains("holdall"),
        .force_requeue = options.contains("forcerequeue")};
    settings_.complete_wait = Minutes{as_number(option(options, "completewait", "0"))};
    settings_.inactive_limit = Minutes{as_number(option(options, "inactive", "0"))};
    settings_.batch_start_timeout = Minutes{as_number(option(options, "batchstart", "0"))};
    settings_.resv_over_run = Minutes{as_number(option(options, "overrun", "0"))};
    if (options.contains("resume"))
        settings_.resume_timeout = Minutes{as_number(options.at("resume"))};
    settings_.power = power_in(options);
    settings_.max_node_count = as_number(option(options, "mostnodes", "0"));
    if (options.contains("gpumem")) settings_.def_mem_per_gpu = as_number(options.at("gpumem"));
    settings_.device_rules = {.enforces_binding = options.contains("enforcebinding"),
                              .parts_of_several_gpus = options.contains("severalgpus"),
                              .one_task_per_gpu = options.contains("onetask"),
                              .spreads_parts = options.contains("spreadparts")};
    const std::string types = option(options, "grestypes");
    for (std::string_view type : split(types, ','))
        if (!type.empty()) settings_.gres_types.emplace_back(type);
    settings_.backfill.max_job_user = as_number(option(options, "userbookings", "0"));
    settings_.enforce_part_limits = options.contains("enforce");
    settings_.enforce_all_part_limits = option(options, "enforce") == "all";
    settings_.backfill.enabled = option(options, "backfill") != "off";
    settings_.backfill.max_job_test = as_number(option(options, "bookings", "0"));
    if (option(options, "preempt") == "partition")
        settings_.preempt.by = PreemptSettings::By::Partition;
    if (option(options, "preempt") == "qos") settings_.preempt.by = PreemptSettings::By::Qos;
    const PreemptWords words = parse_preempt_words(option(options, "mode"));
    if (options.contains("mode")) settings_.preempt.mode = words.mode;
    settings_.preempt.gang = words.gang;
    settings_.preempt.reclaim_limits = options.contains("reclaim");
    settings_.preempt.time_slice = Minutes{as_number(option(options, "slice", "1"))};
    if (options.contains("return"))
        settings_.return_to_service = static_cast<std::uint16_t>(as_number(options.at("return")));
    settings_.enforce_safe = options.contains("safe");
    settings_.enforce_limits = options.contains("limits") || settings_.enforce_safe;
    settings_.enforce_wckeys = options.contains("wckeys");
    settings_.enforce_associations = options.contains("associations") || settings_.enforce_limits;
    settings_.enforce_qos = settings_.enforce_limits || options.contains("enforceqos");
    if (options.contains("reboot")) settings_.reboot_program = options.at("reboot");
    settings_.preempt.exempt_time = Minutes{as_number(option(options, "exempt", "0"))};
    if (cluster_) apply_event(Reconfigure{RequestId{0}, {}, std::make_shared<Settings>(settings_)});
    return {};
}

}  // namespace sluice
