#include "config/slurmdbd_conf.h"

#include "base/text.h"
#include "config/lines.h"
#include "config/values.h"
#include "model/errors.h"

namespace sluice {

namespace {

using enum Kind;
using C = DbdConfig;

template <std::string PurgeTexts::*Member>
void set_purge(DbdConfig& config, const Value& value) {
    config.purge.*Member = value.text;
}

// clang-format off
constexpr Key<DbdConfig> kDbdKeys[] = {
    {"ArchiveDir",          Text,    "/tmp",                 set<&C::archive_directory>},
    {"ArchiveEvents",       YesNo,   "no",                   set<&C::archive_events>},
    {"ArchiveJobs",         YesNo,   "no",                   set<&C::archive_jobs>},
    {"ArchiveResvs",        YesNo,   "no",                   set<&C::archive_reservations>},
    {"ArchiveSteps",        YesNo,   "no",                   set<&C::archive_steps>},
    {"ArchiveSuspend",      YesNo,   "no",                   set<&C::archive_suspends>},
    {"ArchiveTXN",          YesNo,   "no",                   set<&C::archive_transactions>},
    {"ArchiveUsage",        YesNo,   "no",                   set<&C::archive_usage>},
    {"AuthInfo",            Text,    "(null)",               set<&C::auth_info>},
    {"AuthType",            Word,    "auth/munge",           set<&C::auth_type>, "auth/munge|auth/slurm|auth/none"},
    {"DbdAddr",             Text,    "(null)",               set<&C::address>},
    {"DbdBackupHost",       Text,    "(null)",               set<&C::backup_host>},
    {"DbdHost",             Text,    "localhost",            set<&C::host>},
    {"DbdPort",             Port,    "6819",                 set<&C::port>},
    {"DebugLevel",          Level,   "info",                 set<&C::debug_level>},
    {"LogFile",             Text,    "(null)",               set<&C::log_file>},
    {"MessageTimeout",      Seconds, "10 secs",              set<&C::message_timeout>},
    {"PidFile",             Text,    "/var/run/slurmdbd.pid", set<&C::pid_file>},
    {"PrivateData",         Text,    "none",                 set<&C::private_data>},
    {"PurgeEventAfter",     Text,    "NONE",                 set_purge<&PurgeTexts::events>},
    {"PurgeJobAfter",       Text,    "NONE",                 set_purge<&PurgeTexts::jobs>},
    {"PurgeResvAfter",      Text,    "NONE",                 set_purge<&PurgeTexts::reservations>},
    {"PurgeStepAfter",      Text,    "NONE",                 set_purge<&PurgeTexts::steps>},
    {"PurgeSuspendAfter",   Text,    "NONE",                 set_purge<&PurgeTexts::suspends>},
    {"PurgeTXNAfter",       Text,    "NONE",                 set_purge<&PurgeTexts::transactions>},
    {"PurgeUsageAfter",     Text,    "NONE",                 set_purge<&PurgeTexts::usage>},
    {"SlurmUser",           Text,    "root",                 set<&C::slurm_user>},
    {"StorageBackupHost",   Text,    "(null)",               set<&C::storage_backup_host>},
    {"StorageHost",         Text,    "localhost",            set<&C::storage_host>},
    {"StorageLoc",          Text,    "slurm_acct_db",        set<&C::storage_location>},
    {"StorageParameters",   Text,    "(null)",               set<&C::storage_parameters>},
    {"StoragePass",         Text,    "",                     set<&C::storage_pass>},
    {"StoragePort",         Port,    "0",                    set<&C::storage_port>},
    {"StorageType",         Word,    "accounting_storage/sqlite", set<&C::storage_type>,
     "accounting_storage/mysql|accounting_storage/postgresql|accounting_storage/sqlite"},
    {"StorageUser",         Text,    "",                     set<&C::storage_user>},
    // Without an effect in Sluice, which is said.
    {"ArchiveScript",       Text,    "(null)"},
    {"AuthAltTypes",        Text,    "(null)"},
    {"AuthAltParameters",   Text,    "(null)"},
    {"CommitDelay",         Number,  "0"},
    {"CommunicationParameters", Text, "(null)"},
    {"DebugFlags",          Text,    "(null)"},
    {"DebugLevelSyslog",    Text,    "(null)"},
    {"DefaultQOS",          Text,    "(null)"},
    {"MaxQueryTimeRange",   Text,    "UNLIMITED"},
    {"Parameters",          Text,    "(null)"},
    {"PluginDir",           Text,    "(null)"},
    {"TCPTimeout",          Number,  "2"},
    {"TrackSlurmctldDown",  YesNo,   "no"},
    {"TrackWCKey",          YesNo,   "no"},
};
// clang-format on

}  // namespace

std::span<const Key<DbdConfig>> slurmdbd_conf_keys() {
    return kDbdKeys;
}

Result<DbdConfig> parse_slurmdbd_conf(std::string_view text, const std::string& path) {
    DbdConfig config;
    config.path = path;
    TRY(for_each_line(text, path, read_nothing, [&](const Line& line) -> Result<void> {
        for (const Setting& setting : line.settings) {
            const Key<DbdConfig>* key =
                TRY(apply<DbdConfig>(config, kDbdKeys, line, setting, config.warnings));
            if (!key->name.starts_with("Purge")) continue;
            if (const Result<sluice::Seconds> age = parse_purge_age(setting.value); !age)
                return error_at(line, "{}={}: {}", key->name, setting.value, age.error().detail);
        }
        return {};
    }));
    if (config.storage_location.empty()) {
        config.storage_location = config.storage_type == "accounting_storage/sqlite"
                                      ? "/var/lib/sluice/accounting.db"
                                      : "slurm_acct_db";
    }
    return config;
}

Result<DbdConfig> load_slurmdbd_conf(const std::string& path) {
    return parse_slurmdbd_conf(TRY(read_text_file(path)), path);
}

Result<sluice::Seconds> parse_purge_age(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::optional<std::uint64_t> number = to_number(text.substr(0, digits));
    const std::string unit = to_lower(text.substr(digits));
    constexpr std::int64_t kHour = 3600, kDay = 24 * kHour, kMonth = 31 * kDay;
    const std::int64_t length = unit.empty() || unit == "month" || unit == "months" ? kMonth
                                : unit == "day" || unit == "days"                   ? kDay
                                : unit == "hour" || unit == "hours"                 ? kHour
                                                                                    : 0;
    constexpr std::uint64_t kMost = 100'000;
    if (!number || *number == 0 || *number > kMost || length == 0) {
        return Error{ErrorCode::BadArgument,
                     "expected a number of months, or a number with hours, days or months"};
    }
    return sluice::Seconds{static_cast<std::int64_t>(*number) * length};
}

}  // namespace sluice
