// `scontrol show config`, from the same tables that read the files.
#include <algorithm>
#include <iterator>

#include "config/cgroup_conf.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/lines.h"
#include "config/setters.h"
#include "model/state_location.h"
#include "model/times.h"

namespace sluice {

namespace {

using Written = std::map<std::string, std::string>;

void put(std::string& out, std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "{:<23} = {}\n", name, value);
}

const std::string* find_written(const Written& written, std::string_view name) {
    auto found = written.find(std::string(name));
    return found == written.end() ? nullptr : &found->second;
}

std::string written_or(const Config& config, std::string_view name, std::string_view unset) {
    const std::string* text = find_written(config.as_written, name);
    return text ? *text : std::string(unset);
}

// "slurm(64030)": root's number is known, another's only where there is a user database.
std::string user_with_id(const std::string& name, std::optional<std::uint32_t> id) {
    if (!id && name == "root") id = 0;
    return id ? fmt::format("{}({})", name, *id) : name;
}

std::optional<std::string> memory_line(const std::optional<Megabytes>& mine,
                                       const std::optional<Megabytes>& other, bool shown_unset) {
    if (mine) return fmt::format("{}", *mine);
    if (shown_unset && !other) return "UNLIMITED";
    return {};
}

// Lines whose value is more than the key as written; nothing: the line is left out.
using Special = std::optional<std::string> (*)(const Config&, const ControllerFacts&);
struct SpecialLine {
    std::string_view name;
    Special print;
};

std::optional<std::string> print_tracked(const Config& config, const ControllerFacts&) {
    std::string list = "cpu,mem,energy,node,billing,fs/disk,vmem,pages";
    const std::string* more = find_written(config.as_written, "AccountingStorageTRES");
    return more ? list + "," + *more : list;
}
// With slurmdbd the default grows with the cluster, as slurm.conf(5) says; without, there is none.
std::optional<std::string> print_dbd_messages(const Config& config, const ControllerFacts&) {
    if (const std::string* given = find_written(config.as_written, "MaxDBDMsgs")) return *given;
    const std::string* type = find_written(config.as_written, "AccountingStorageType");
    if (!type || *type != "accounting_storage/slurmdbd") return "0";
    return fmt::format("{}", std::max<std::uint64_t>(
                                 10000, 2ull * config.max_job_count + 4 * config.nodes.size()));
}

constexpr SpecialLine kSpecialLines[] = {
    {"AccountingStorageTRES", print_tracked},
    {"BOOT_TIME",
     [](const Config&, const ControllerFacts& facts) {
         return facts.boot_time ? std::optional(print_moment(*facts.boot_time)) : std::nullopt;
     }},
    {"ClusterName",
     [](const Config& c, const ControllerFacts&) { return std::optional(c.cluster_name); }},
    {"DefMemPerCPU",
     [](const Config& c, const ControllerFacts&) {
         return memory_line(c.def_mem_per_cpu, c.def_mem_per_node, false);
     }},
    {"DefMemPerNode",
     [](const Config& c, const ControllerFacts&) {
         return memory_line(c.def_mem_per_node, c.def_mem_per_cpu, true);
     }},
    {"EnforcePartLimits",
     [](const Config& c, const ControllerFacts&) { return std::optional(c.enforce_part_limits); }},
    {"JobDefaults",
     [](const Config& c, const ControllerFacts&) {
         return std::optional<std::string>(c.job_defaults.empty() ? "(null)" : c.job_defaults);
     }},
    {"MaxDBDMsgs", print_dbd_messages},
    {"MaxMemPerCPU",
     [](const Config& c, const ControllerFacts&) {
         return memory_line(c.max_mem_per_cpu, c.max_mem_per_node, false);
     }},
    {"MaxMemPerNode",
     [](const Config& c, const ControllerFacts&) {
         return memory_line(c.max_mem_per_node, c.max_mem_per_cpu, true);
     }},
    {"MaxNodeCount",
     [](const Config& c, const ControllerFacts&) {
         return std::optional(fmt::format("{}", c.nodes.size()));
     }},
    {"NEXT_JOB_ID",
     [](const Config&, const ControllerFacts& facts) {
         return facts.next_job_id ? std::optional(fmt::format("{}", *facts.next_job_id))
                                  : std::nullopt;
     }},
    {"PrologFlags",
     [](const Config& c, const ControllerFacts&) {
         return std::optional(print_prolog_flags(c.prolog_flags));
     }},
    {"SelectType",
     [](const Config& c, const ControllerFacts&) { return std::optional(c.select_type); }},
    {"SlurmUser",
     [](const Config& c, const ControllerFacts& facts) {
         return std::optional(user_with_id(c.slurm_user, facts.slurm_user_id));
     }},
    {"SlurmdUser",
     [](const Config& c, const ControllerFacts& facts) {
         return std::optional(
             user_with_id(written_or(c, "SlurmdUser", "root"), facts.slurmd_user_id));
     }},
    {"SLURM_CONF", [](const Config& c, const ControllerFacts&) { return std::optional(c.path); }},
    {"StateSaveLocation",
     [](const Config& c, const ControllerFacts&) {
         return std::optional(without_password(c.state_save_location));
     }},
    {"UnkillableStepTimeout",
     [](const Config& c, const ControllerFacts&) {
         return std::optional(fmt::format("{} sec", c.unkillable_step_timeout.count()));
     }},
};

const SpecialLine* find_special(std::string_view name) {
    for (const SpecialLine& line : kSpecialLines) {
        if (line.name == name) return &line;
    }
    return nullptr;
}

// A plugin called ".../none", or a topology of old, prints as what it now is.
std::string modern(std::string_view name, std::string value) {
    if (name == "TopologyPlugin" && (value == "topology/none" || value == "topology/default")) {
        return "topology/flat";
    }
    return value.ends_with("/none") && name != "AuthType" ? "(null)" : value;
}

void put_controllers(std::string& out, const Config& config) {
    for (std::size_t i = 0; i < config.controllers.size(); ++i) {
        const ControllerHost& host = config.controllers[i];
        put(out, fmt::format("SlurmctldHost[{}]", i),
            host.name == host.address ? host.name : fmt::format("{}({})", host.name, host.address));
    }
}

void put_key(std::string& out, const Key<Config>& key, const Config& config,
             const ControllerFacts& facts) {
    if (key.name == "SlurmctldHost") return put_controllers(out, config);
    if (const SpecialLine* special = find_special(key.name)) {
        if (std::optional<std::string> value = special->print(config, facts)) {
            put(out, key.name, *value);
        }
        return;
    }
    const std::string* text = find_written(config.as_written, key.name);
    std::string value =
        text ? modern(key.name, print_value(key.kind, key.choices, *text)) : std::string(key.unset);
    if (key.name == "Prolog" || key.name == "Epilog") {
        if (text) put(out, fmt::format("{}[0]", key.name), value);
    } else if (!value.empty() || key.name == "PriorityFlags") {
        put(out, key.name, value);
    }
}

bool uses_cgroups(const Config& config) {
    const std::string task_plugin = written_or(config, "TaskPlugin", "");
    return config.proctrack_type == "proctrack/cgroup" ||
           config.has_flag(task_plugin, "task/cgroup") || config.has_flag(task_plugin, "cgroup") ||
           written_or(config, "JobAcctGatherType", "") == "jobacct_gather/cgroup";
}

// The keys after the last printed one are settings that Slurm shows elsewhere or not at all.
constexpr std::string_view kLastPrinted = "X11Parameters";
constexpr std::string_view kLastPrintedCgroup = "SystemdTimeout";

void put_cgroup(std::string& out, const CgroupConfig& config) {
    out += "\nCgroup Support Configuration:\n";
    for (const Key<CgroupConfig>& key : cgroup_conf_keys()) {
        const std::string* text = find_written(config.as_written, key.name);
        std::string value =
            text ? print_value(key.kind, key.choices, *text) : std::string(key.unset);
        if (text && key.name == "MinRAMSpace") value += " MB";
        if (text && key.name == "SystemdTimeout") value += " ms";
        put(out, key.name, value);
        if (key.name == kLastPrintedCgroup) return;
    }
}

}  // namespace

std::string print_config(const Config& config, const ControllerFacts& facts) {
    std::string out;
    out.reserve(16384);
    for (const Key<Config>& key : slurm_conf_keys()) {
        put_key(out, key, config, facts);
        if (key.name == kLastPrinted) break;
    }
    if (uses_cgroups(config)) put_cgroup(out, config.cgroup);
    return out;
}

}  // namespace sluice
