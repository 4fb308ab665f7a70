#include "config/cgroup_conf.h"

#include "config/lines.h"

namespace sluice {

namespace {

using enum Kind;
using C = CgroupConfig;

// clang-format off
constexpr Key<CgroupConfig> kCgroupKeys[] = {
    {"AllowedRAMSpace",          Percentage, "100.0%",         set<&C::allowed_ram_space>},
    {"AllowedSwapSpace",         Percentage, "0.0%",           set<&C::allowed_swap_space>},
    {"CgroupMountpoint",         Text,       "/sys/fs/cgroup", set<&C::mountpoint>},
    {"CgroupPlugin",             Word,       "autodetect",     set<&C::plugin>, "autodetect|cgroup/v1|cgroup/v2|disabled"},
    {"ConstrainCores",           YesNo,      "no",             set<&C::constrain_cores>},
    {"ConstrainDevices",         YesNo,      "no",             set<&C::constrain_devices>},
    {"ConstrainRAMSpace",        YesNo,      "no",             set<&C::constrain_ram_space>},
    {"ConstrainSwapSpace",       YesNo,      "no",             set<&C::constrain_swap_space>},
    {"EnableControllers",        YesNo,      "no"},
    {"EnableExtraControllers",   Text,       "(null)"},
    {"IgnoreSystemd",            YesNo,      "no",             set<&C::ignore_systemd>},
    {"IgnoreSystemdOnFailure",   YesNo,      "no"},
    {"MaxRAMPercent",            Percentage, "100.0%",         set<&C::max_ram_percent>},
    {"MaxSwapPercent",           Percentage, "100.0%",         set<&C::max_swap_percent>},
    {"MemorySwappiness",         Number,     "(null)",         set<&C::memory_swappiness>},
    {"MinRAMSpace",              Memory,     "30 MB",          set<&C::min_ram_space>},
    {"SystemdTimeout",           Number,     "1000 ms"},
    // Settable, not printed.
    {"CgroupJobIdPaths",         YesNo,      ""},
    {"CgroupSlice",              Text,       ""},
    {"SignalChildrenProcesses",  YesNo,      ""},
    // What old files may still say.
    {"AllowedDevicesFile",       Removed},
    {"AllowedKmemSpace",         Removed},
    {"CgroupAutomount",          Removed},
    {"CgroupReleaseAgentDir",    Removed},
    {"ConstrainKmemSpace",       Removed},
    {"MaxKmemPercent",           Removed},
    {"MinKmemSpace",             Removed},
    {"TaskAffinity",             Removed},
};
// clang-format on

}  // namespace

std::span<const Key<CgroupConfig>> cgroup_conf_keys() {
    return kCgroupKeys;
}

Result<CgroupConfig> parse_cgroup_conf(std::string_view text, const std::string& path,
                                       std::vector<std::string>& warnings) {
    CgroupConfig config;
    TRY(for_each_line(text, path, read_nothing, [&](const Line& line) -> Result<void> {
        for (const Setting& setting : line.settings) {
            const Key<CgroupConfig>* key =
                TRY(apply<CgroupConfig>(config, kCgroupKeys, line, setting, warnings));
            if (config.memory_swappiness.value_or(0) > 100) {
                return error_at(line, "MemorySwappiness={}: expected 0 to 100", setting.value);
            }
            config.as_written.insert_or_assign(std::string(key->name), std::string(setting.value));
        }
        return {};
    }));
    return config;
}

}  // namespace sluice
