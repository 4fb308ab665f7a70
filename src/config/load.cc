// Reads slurm.conf from its first line to the last, then completes what needs all of it.
#include <algorithm>
#include <filesystem>

#include "config/draft.h"
#include "config/keys.h"
#include "config/scheduler_options.h"
#include "config/setters.h"
#include "config/unsupported.h"
#include "config/values.h"
#include "core/settings.h"
#include "model/cpu_freq.h"
#include "model/gpu_freq.h"
#include "model/sampling.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr std::uint32_t kJobIdMax = 67043328;  // Slurm's: the bits above number federations
constexpr std::uint32_t kArraySizeMax = 4000001;
constexpr std::uint32_t kTasksPerNodeMax = 65533;

// Keys that open a line of their own kind.
struct LineKind {
    std::string_view first_key;
    Result<void> (*take)(Draft&, const Line&);
};
constexpr LineKind kLineKinds[] = {
    {"NodeName", take_node_line},    {"PartitionName", take_partition_line},
    {"NodeSet", take_node_set_line}, {"DownNodes", take_down_line},
    {"QOS", take_qos_line},
};

Error refuse(const Config& config, std::string_view what) {
    return Error{ErrorCode::ConfigInvalid, fmt::format("{}: {}", base_name(config.path), what)};
}

// "ctl1(10.0.0.1)" or "ctl1"
Result<ControllerHost> parse_controller(std::string_view text, const Line& line) {
    std::size_t open = text.find('(');
    ControllerHost host{std::string(text.substr(0, open)), std::string(text.substr(0, open))};
    if (open != std::string_view::npos) {
        if (!text.ends_with(')') || open + 2 >= text.size()) host.name.clear();
        host.address = text.substr(open + 1, text.size() - open - 2);
    }
    if (host.name.empty() || host.name.find_first_of(", ()") != std::string::npos) {
        return error_at(line, "SlurmctldHost={}: expected name or name(address)", text);
    }
    return host;
}

// Compat: of a key given twice Slurm takes the last, with a complaint. Two prologs are different:
// dropping one would leave out a step that the site relies on.
Result<void> note_written(Config& config, const Key<Config>& key, const Line& line) {
    std::string_view value = line.settings.front().value;
    bool first =
        config.as_written.insert_or_assign(std::string(key.name), std::string(value)).second;
    if (first || key.name == "SlurmctldHost") return {};
    if (key.name == "Prolog" || key.name == "Epilog") {
        return error_at(line, "{}={}: given twice, expected one program", key.name, value);
    }
    config.warnings.push_back(
        note_at(line, "{}={}: given more than once, the last one counts", key.name, value));
    return {};
}

Result<void> take_key_line(Draft& draft, const Line& line) {
    Config& config = draft.config;
    const Setting& setting = line.settings.front();
    TRY(check_obsolete(line));
    const std::size_t warnings_before = config.warnings.size();
    const Key<Config>* key =
        TRY(apply<Config>(config, slurm_conf_keys(), line, setting, config.warnings));
    note_unsupported(config, *key, line, config.warnings.size() > warnings_before);
    if (line.settings.size() > 1) {
        return error_at(line, "'{}' after {}={}: put each key on a line of its own",
                        line.settings[1].key, key->name, setting.value);
    }
    if (key->name == "SlurmctldHost") {
        config.controllers.push_back(TRY(parse_controller(setting.value, line)));
    }
    return note_written(config, *key, line);
}

const LineKind* kind_of(const Line& line) {
    for (const LineKind& kind : kLineKinds) {
        if (equals_ignoring_case(line.settings.front().key, kind.first_key)) return &kind;
    }
    return nullptr;
}

const std::string* written(const Config& config, const std::string& key) {
    auto found = config.as_written.find(key);
    return found == config.as_written.end() ? nullptr : &found->second;
}

// ControlMachine and BackupController are how files of before SlurmctldHost named the controllers.
Result<void> complete_controllers(Config& config) {
    const std::pair<const char*, const char*> old[] = {{"ControlMachine", "ControlAddr"},
                                                       {"BackupController", "BackupAddr"}};
    const bool has_new = !config.controllers.empty();
    for (const auto& [name_key, address_key] : old) {
        const std::string* name = written(config, name_key);
        const std::string* address = written(config, address_key);
        if (!name) continue;
        if (has_new) {
            config.warnings.push_back(fmt::format("{}: ignoring {}={} since SlurmctldHost is set",
                                                  base_name(config.path), name_key, *name));
        } else {
            config.controllers.push_back({*name, address ? *address : *name});
        }
    }
    if (config.controllers.empty()) {
        return refuse(config, "no SlurmctldHost: name the host that runs slurmctld");
    }
    note_backup_controllers(config);
    return {};
}

// The values inside "a=1,b=2" that have a member of their own.
Result<void> complete_list_options(Config& config) {
    if (auto text = list_option(config.auth_info, "cred_expire")) {
        std::optional<std::uint64_t> seconds = to_number(*text);
        if (!seconds || *seconds < 1 || *seconds > 0xffffffff) {
            return refuse(config, fmt::format("AuthInfo: cred_expire={}: expected a number of "
                                              "seconds",
                                              *text));
        }
        config.cred_expire = Seconds{static_cast<std::int64_t>(*seconds)};
    }
    if (auto text = list_option(config.scheduler_parameters, "max_script_size")) {
        std::optional<std::uint64_t> bytes = to_number(*text);
        if (!bytes || *bytes < 1 || *bytes > sizes::kScript) {
            return refuse(config, fmt::format("SchedulerParameters: max_script_size={}: expected a "
                                              "number of bytes up to {}",
                                              *text, sizes::kScript));
        }
        config.max_script_size = static_cast<std::uint32_t>(*bytes);
    }
    return {};
}

// Words of SelectTypeParameters that have no effect.
constexpr std::string_view kIdleSelectWords[] = {
    "CR_ONE_TASK_PER_CORE", "CR_CORE_DEFAULT_DIST_BLOCK", "CR_NO_DIST_TOPO_BLOCK", "CR_PACK_NODES"};
// Slurm's other networks; jobs are placed as if there were none.
constexpr std::string_view kIdleTopologies[] = {"topology/block", "topology/ring",
                                                "topology/torus3d", "topology/3d_torus"};

Result<void> check_topology_plugin(Config& config) {
    std::string_view plugin = config.topology_plugin;
    for (std::string_view known :
         {"topology/flat", "topology/none", "topology/default", "topology/tree"}) {
        if (equals_ignoring_case(plugin, known)) return {};
    }
    for (std::string_view known : kIdleTopologies) {
        if (!equals_ignoring_case(plugin, known)) continue;
        config.warnings.push_back(fmt::format("{}: TopologyPlugin={} has no effect in Sluice",
                                              base_name(config.path), plugin));
        return {};
    }
    return refuse(
        config, fmt::format("TopologyPlugin={}: expected topology/flat or topology/tree", plugin));
}

// Compat: PreemptType (which jobs) and PreemptMode (what happens to them) need each other.
Result<void> check_preemption(const Config& config) {
    const std::string& type = config.preempt_type;
    if (!type.empty() && type != "preempt/partition_prio" && type != "preempt/qos") {
        return refuse(config, fmt::format("PreemptType={}: expected preempt/none, "
                                          "preempt/partition_prio or preempt/qos",
                                          type));
    }
    const PreemptWords words = parse_preempt_words(config.preempt_mode);
    const bool acts = words.mode != PreemptMode::Off;
    if (acts && type.empty()) {
        return refuse(config,
                      fmt::format("PreemptMode={}: needs PreemptType=preempt/partition_prio "
                                  "or preempt/qos",
                                  config.preempt_mode));
    }
    if (!acts && !type.empty()) {
        return refuse(config, fmt::format("PreemptType={}: needs PreemptMode=CANCEL, REQUEUE or "
                                          "SUSPEND,GANG",
                                          type));
    }
    // Compat: what is suspended has to be resumed, and gang scheduling does that.
    if (words.mode == PreemptMode::Suspend && !words.gang) {
        return refuse(config,
                      fmt::format("PreemptMode={}: needs GANG too (PreemptMode=SUSPEND,GANG)",
                                  config.preempt_mode));
    }
    return {};
}

Result<void> take_rate_limit(RateLimits& limits, std::string_view name, std::string_view value) {
    const bool is_off = name == "rl_log_freq" && value == "-1";
    const auto number = to_number(value);
    // A bucket that is never refilled, or that holds nothing, would lock users out.
    const std::uint64_t least = name == "rl_log_freq" ? 0 : 1;
    if (!is_off && (!number || *number < least || *number > 1'000'000)) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("SlurmctldParameters={}={}: expected a number from {} to 1000000",
                                 name, value, least)};
    }
    const auto count = static_cast<std::uint32_t>(number.value_or(0));
    if (name == "rl_bucket_size") limits.bucket_size = count;
    if (name == "rl_refill_rate") limits.refill_rate = count;
    if (name == "rl_refill_period") limits.refill_period = Seconds{count};
    if (name == "rl_table_size") limits.table_size = count;
    if (name == "rl_log_freq")
        limits.log_every = is_off ? std::nullopt : std::optional(Seconds{count});
    return {};
}

constexpr std::string_view kRateLimitKeys[] = {"rl_bucket_size", "rl_refill_rate",
                                               "rl_refill_period", "rl_table_size", "rl_log_freq"};

Result<void> take_slurmctld_parameters(Config& config) {
    for (std::string_view entry : split(config.slurmctld_parameters, ',')) {
        const std::string word = to_lower(trim(entry));
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const std::string value = equals == word.npos ? "" : word.substr(equals + 1);
        const auto* end = std::end(kRateLimitKeys);
        if (word.empty()) continue;
        if (word == "rl_enable") {
            config.rate_limits.enabled = true;
        } else if (std::find(std::begin(kRateLimitKeys), end, name) != end) {
            const auto taken = take_rate_limit(config.rate_limits, name, value);
            if (!taken) return refuse(config, taken.error().detail);
        }
    }
    return {};
}

// What the scheduler is told in words and lists.
Result<void> check_scheduling(Config& config) {
    std::vector<std::string> idle;
    Result<SchedulerOptions> options =
        parse_scheduler_options(config.scheduler_parameters, config.preempt_parameters, &idle);
    if (!options) return refuse(config, options.error().detail);
    for (const std::string& note : idle) {
        config.warnings.push_back(fmt::format("{}: {}", base_name(config.path), note));
    }
    for (std::string_view word : kIdleSelectWords) {
        if (!config.has_flag(config.select_type_parameters, word)) continue;
        config.warnings.push_back(fmt::format("{}: SelectTypeParameters={} has no effect in Sluice",
                                              base_name(config.path), word));
    }
    auto licenses = parse_license_totals(config.licenses);
    if (!licenses) return refuse(config, licenses.error().detail);
    if (!config.gpu_freq_def.empty()) {
        if (Result<GpuFreq> freq = parse_gpu_freq(config.gpu_freq_def); !freq) {
            return refuse(
                config, fmt::format("GpuFreqDef={}: {}", config.gpu_freq_def, freq.error().detail));
        }
    }
    if (auto interval = parse_task_sampling(config.job_acct_gather_frequency); !interval) {
        return refuse(config, fmt::format("JobAcctGatherFrequency={}: expected task=SECONDS",
                                          config.job_acct_gather_frequency));
    }
    TRY(check_topology_plugin(config));
    TRY(take_slurmctld_parameters(config));
    return check_preemption(config);
}

Result<void> check_numbers(const Config& config) {
    if (config.first_job_id < 1 || config.first_job_id > config.max_job_id) {
        return refuse(config, fmt::format("FirstJobId={}: expected 1 to MaxJobId={}",
                                          config.first_job_id, config.max_job_id));
    }
    if (config.max_job_id > kJobIdMax) {
        return refuse(
            config, fmt::format("MaxJobId={}: expected at most {}", config.max_job_id, kJobIdMax));
    }
    if (config.max_job_count < 1) return refuse(config, "MaxJobCount=0: expected at least 1");
    if (config.max_array_size > kArraySizeMax) {
        return refuse(config, fmt::format("MaxArraySize={}: expected at most {}",
                                          config.max_array_size, kArraySizeMax));
    }
    if (config.max_tasks_per_node < 1 || config.max_tasks_per_node > kTasksPerNodeMax) {
        return refuse(config, fmt::format("MaxTasksPerNode={}: expected 1 to {}",
                                          config.max_tasks_per_node, kTasksPerNodeMax));
    }
    if (config.tree_width < 1 || config.tree_width > sizes::kTreeWidth) {
        return refuse(config, fmt::format("TreeWidth={}: expected 1 to {}", config.tree_width,
                                          sizes::kTreeWidth));
    }
    if (const Result<CpuFreq> freq = parse_cpu_freq(config.cpu_freq_def);
        !freq && !config.cpu_freq_def.empty()) {
        return refuse(config, fmt::format("CpuFreqDef={}: expected {}", config.cpu_freq_def,
                                          freq.error().detail));
    }
    return {};
}

// Parts of GPUs need GPUs, and a GPU has either shards or mps.
Result<void> check_shared_gres(const Config& config) {
    for (const NodeConfig& node : config.nodes) {
        auto has = [&](std::string_view name) {
            return std::any_of(node.gres.begin(), node.gres.end(),
                               [&](const GresCount& gres) { return gres.name == name; });
        };
        for (const char* name : {"shard", "mps"}) {
            if (has(name) && !has("gpu")) {
                return refuse(config, fmt::format("NodeName={} Gres={}: {} is a part of GPUs, and "
                                                  "there is no gpu",
                                                  node.name, node.gres_text, name));
            }
        }
    }
    return {};
}

Result<void> check_exit_codes(const Config& config) {
    for (const auto& [key, text] : {std::pair{"RequeueExit", config.requeue_exit},
                                    std::pair{"RequeueExitHold", config.requeue_exit_hold}}) {
        if (Result<std::vector<std::uint8_t>> codes = parse_exit_codes(text); !codes) {
            return refuse(config, fmt::format("{}={}: {}", key, text, codes.error().detail));
        }
    }
    return {};
}

// What the tools read of it, or all.
enum class Part { Settings, Everything };

Result<void> finish(Draft& draft, Part part) {
    Config& config = draft.config;
    if (!written(config, "ClusterName")) {
        return refuse(config, "no ClusterName: accounting needs a name for this cluster");
    }
    if (config.cluster_name.empty() || config.cluster_name.size() > 40) {
        return refuse(config, fmt::format("ClusterName={}: expected 1 to 40 characters",
                                          config.cluster_name));
    }
    TRY(complete_controllers(config));
    TRY(complete_list_options(config));
    TRY(complete_communication(config));
    TRY(complete_task_plugin(config));
    TRY(complete_prolog_flags(config));
    TRY(complete_priority(config));
    TRY(check_numbers(config));
    TRY(check_scheduling(config));
    TRY(check_exit_codes(config));
    check_unsupported(config);
    if (!written(config, "UnkillableStepTimeout")) {
        config.unkillable_step_timeout = std::max(Seconds{60}, 5 * config.message_timeout);
    }
    if (part == Part::Settings) return {};
    if (config.nodes.empty())
        return refuse(config, "no nodes: at least one NodeName line is needed");
    TRY(check_shared_gres(config));
    TRY(finish_nodes(draft));
    return finish_partitions(draft);
}

Result<Config> parse_with(std::string_view text, const std::string& path, const FileReader& read,
                          Part part) {
    Draft draft;
    draft.config.path = path;
    TRY(for_each_line(text, path, read, [&](const Line& line) -> Result<void> {
        const LineKind* kind = kind_of(line);
        if (!kind) return take_key_line(draft, line);
        return part == Part::Settings ? Result<void>{} : kind->take(draft, line);
    }));
    TRY(finish(draft, part));
    return std::move(draft.config);
}

// gres.conf speaks of types that slurm.conf must know. Compat: not so its nodes, one file may serve
// several clusters.
Result<void> check_gres(Config& config, const std::string& path) {
    auto refused = [&](std::string_view what) {
        return Error{ErrorCode::ConfigInvalid, fmt::format("{}: {}", base_name(path), what)};
    };
    for (const GresLine& line : config.gres) {
        for (const std::string& node : line.nodes) {
            if (config.find_node(node)) continue;
            config.warnings.push_back(
                fmt::format("{}: NodeName={}: no such node in slurm.conf", base_name(path), node));
        }
        const std::string& name = line.devices.name;
        if (!name.empty() && !config.has_flag(config.gres_types, name)) {
            return refused(
                fmt::format("Name={}: not in GresTypes={} of slurm.conf", name, config.gres_types));
        }
    }
    return {};
}

// A file that may be missing; one that is there must be readable.
Result<std::string> read_file_if_any(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return std::string{};
    return read_text_file(path);
}

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& path) {
    return parse_with(text, path, read_nothing, Part::Everything);
}

Result<Config> load_settings(const std::string& path) {
    return parse_with(TRY(read_text_file(path)), path, read_text_file, Part::Settings);
}

Result<Config> load_config(const std::string& path) {
    std::string text = TRY(read_text_file(path));
    Config config = TRY(parse_with(text, path, read_text_file, Part::Everything));
    const std::string folder = path.substr(0, path.size() - base_name(path).size());
    const std::string gres = TRY(read_file_if_any(folder + "gres.conf"));
    config.gres = TRY(parse_gres_conf(gres, folder + "gres.conf", config.warnings));
    TRY(check_gres(config, "gres.conf"));
    const std::string cgroup = TRY(read_file_if_any(folder + "cgroup.conf"));
    config.cgroup = TRY(parse_cgroup_conf(cgroup, folder + "cgroup.conf", config.warnings));
    if (config.job_container_type.ends_with("/tmpfs")) {
        const std::string file = "job_container.conf";
        const std::string text = TRY(read_text_file(folder + file));
        config.job_containers = TRY(parse_job_container_conf(text, folder + file, config.warnings));
        if (config.job_containers.front().base_path.empty() && config.job_containers.size() == 1)
            return refuse(config, file + ": BasePath is missing");
    }
    if (const std::string oci = TRY(read_file_if_any(folder + "oci.conf")); !oci.empty())
        config.oci = TRY(parse_oci_conf(oci, folder + "oci.conf", config.warnings));
    if (equals_ignoring_case(config.topology_plugin, "topology/tree")) {
        const std::string topology = TRY(read_file_if_any(folder + "topology.conf"));
        config.switches =
            TRY(parse_topology_conf(topology, folder + "topology.conf", config.warnings));
        TRY(check_topology(config, "topology.conf"));
    }
    return config;
}

}  // namespace sluice
