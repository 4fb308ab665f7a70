// oci.conf: the commands of the OCI runtime that runs containers. Where there is no such file, jobs
// that ask for a container are refused by the node.
#include <regex.h>

#include "config/config.h"
#include "config/key_help.h"
#include "config/lines.h"
#include "config/values.h"

namespace sluice {

namespace {

using enum Kind;
using O = OciConfig;

// clang-format off
constexpr Key<OciConfig> kOciKeys[] = {
    {"ContainerPath",        Text,  "",               set<&O::container_path>},
    {"CreateEnvFile",        Word,  "false",          set<&O::env_file>, "false|true|disabled|newline|null|no|yes"},
    {"DisableCleanup",       YesNo, "no",             set<&O::disable_cleanup>},
    {"DisableHooks",         Words, "",               set<&O::hooks_disabled>, "prestart|createRuntime|createContainer|startContainer|poststart|poststop"},
    {"EnvExclude",           Text,  "",               set<&O::env_exclude>},
    {"IgnoreFileConfigJson", YesNo, "no",             set<&O::ignore_config>},
    {"MountSpoolDir",        Text,  "/var/run/slurm", set<&O::mount_spool_dir>},
    {"RunTimeCreate",        Text,  "",               set<&O::create>},
    {"RunTimeDelete",        Text,  "",               set<&O::remove>},
    {"RunTimeEnvExclude",    Text,  "",               set<&O::runtime_env_exclude>},
    {"RunTimeKill",          Text,  "",               set<&O::kill>},
    {"RunTimeQuery",         Text,  "",               set<&O::query>},
    {"RunTimeRun",           Text,  "",               set<&O::run>},
    {"RunTimeStart",         Text,  "",               set<&O::start>},
    // Of scrun, which Sluice does not have.
    {"Debug",                Text,  ""},
    {"DebugFlags",           Text,  ""},
    {"FileDebug",            Text,  ""},
    {"SrunArgs",             Text,  ""},
    {"SrunPath",             Text,  ""},
    {"StdIODebug",           Text,  ""},
    {"SyslogDebug",          Text,  ""},
};
// clang-format on

// The letters that stepd/oci_pattern.cc replaces.
constexpr std::string_view kLetters = "%@bejmnprstuU";

Result<void> check_pattern(const Line& line, const Setting& setting) {
    const std::string_view text = setting.value;
    for (std::size_t i = text.find('%'); i != text.npos; i = text.find('%', i + 2)) {
        if (i + 1 < text.size() && kLetters.find(text[i + 1]) != kLetters.npos) continue;
        return error_at(line,
                        "{}={}: unknown pattern '{}', expected %% or one of %@ %b %e %j %m "
                        "%n %p %r %s %t %u %U",
                        setting.key, text, text.substr(i, 2));
    }
    return {};
}

Result<void> check_expression(const Line& line, const Setting& setting) {
    regex_t compiled;
    const std::string text(setting.value);
    if (regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
        return error_at(line, "{}={}: not a regular expression", setting.key, text);
    regfree(&compiled);
    return {};
}

Result<void> check_whole(const OciConfig& config, const std::string& path) {
    const bool has_both = !config.create.empty() && !config.start.empty() && !config.query.empty();
    if (!config.run.empty() || has_both) return {};
    return Error{ErrorCode::ConfigInvalid,
                 fmt::format("{}: RunTimeRun is missing (or RunTimeCreate, RunTimeStart and "
                             "RunTimeQuery)",
                             base_name(path))};
}

}  // namespace

std::vector<KeyRow> oci_key_rows() {
    return rows_of<OciConfig>(kOciKeys);
}

Result<OciConfig> parse_oci_conf(std::string_view text, const std::string& path,
                                 std::vector<std::string>& warnings) {
    OciConfig config;
    TRY(for_each_line(text, path, read_nothing, [&](const Line& line) -> Result<void> {
        for (const Setting& setting : line.settings) {
            const Key<OciConfig>* key =
                TRY(apply<OciConfig>(config, kOciKeys, line, setting, warnings));
            const bool is_expression = key->name.ends_with("EnvExclude");
            if (is_expression) {
                TRY(check_expression(line, setting));
            } else if (key->kind == Text && key->set) {
                TRY(check_pattern(line, setting));
            }
        }
        return {};
    }));
    if (!config.mount_spool_dir.starts_with('/')) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("{}: MountSpoolDir={}: expected an absolute path", base_name(path),
                                 config.mount_spool_dir)};
    }
    TRY(check_whole(config, path));
    return config;
}

}  // namespace sluice
