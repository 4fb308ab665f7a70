// config/slurmdbd_conf.h
//
// slurmdbd.conf: where the accounting database is, and how long it keeps what.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "model/key_values.h"

namespace sluice {

// "12months", "30days", "36hours"; a number alone: months. Absent: kept for ever.
struct PurgeTexts {
    std::string events, jobs, reservations, steps, suspends, transactions, usage;
};

struct DbdConfig {
    std::string path;
    std::string auth_type = "auth/munge", auth_info;
    std::string host = "localhost", address, backup_host;
    std::uint16_t port = 6819;
    std::string slurm_user = "root";
    std::string storage_type = "accounting_storage/sqlite";
    std::string storage_host = "localhost", storage_backup_host;
    std::uint16_t storage_port = 0;
    std::string storage_user, storage_pass, storage_location;
    std::string storage_parameters;
    std::string log_file, pid_file = "/var/run/slurmdbd.pid";
    LogLevel debug_level = LogLevel::Info;
    Seconds message_timeout{10};
    std::string private_data;
    std::string archive_directory = "/tmp";
    bool archive_events = false, archive_jobs = false, archive_reservations = false;
    bool archive_steps = false, archive_suspends = false, archive_transactions = false;
    bool archive_usage = false;
    PurgeTexts purge;
    std::vector<std::string> warnings;
};

std::span<const Key<DbdConfig>> slurmdbd_conf_keys();
Result<DbdConfig> parse_slurmdbd_conf(std::string_view text, const std::string& path);
Result<DbdConfig> load_slurmdbd_conf(const std::string& path);
// Of a Purge...After value.
Result<Seconds> parse_purge_age(std::string_view text);

}  // namespace sluice
