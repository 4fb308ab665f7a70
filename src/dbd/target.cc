#include "dbd/target.h"

#include <fmt/format.h>

#include "base/text.h"
#include "config/config.h"
#include "model/errors.h"
#include "os/socket.h"

namespace sluice {

Result<sql::Target> target_of(const DbdConfig& config) {
    sql::Target target;
    if (config.storage_type == "accounting_storage/sqlite") {
        target.path = config.storage_location;
        return target;
    }
    target.engine = config.storage_type == "accounting_storage/mysql" ? sql::Engine::Mariadb
                                                                      : sql::Engine::Postgresql;
    for (const std::string& host : {config.storage_host, config.storage_backup_host})
        if (!host.empty()) target.hosts.push_back(host);
    target.port = config.storage_port;
    target.user = config.storage_user;
    target.password = config.storage_pass;
    target.name = config.storage_location;
    target.timeout = config.message_timeout;
    for (std::string_view word : split(config.storage_parameters, ',')) {
        if (word.empty()) continue;
        const std::size_t at = word.find('=');
        const std::string key = to_upper(word.substr(0, at));
        const std::string value(at == word.npos ? std::string_view() : word.substr(at + 1));
        if (key == "SSL_CA")
            target.ssl_ca = value;
        else if (key == "SSL_CAPATH")
            target.ssl_ca_path = value;
        else if (key == "SSL_CERT")
            target.ssl_cert = value;
        else if (key == "SSL_KEY")
            target.ssl_key = value;
        else if (key == "SSL_CIPHER")
            target.ssl_cipher = value;
        else
            return Error{ErrorCode::BadArgument,
                         fmt::format("{}: StorageParameters={}: unknown", config.path, word)};
    }
    return target;
}

AuthSettings auth_settings(const DbdConfig& config, UserId slurm_user) {
    const std::string beside = default_token_key_path(config.path);
    return {.type = config.auth_type,
            .munge_socket = std::string(list_option(config.auth_info, "socket").value_or("")),
            .key_path = std::string(list_option(config.auth_info, "key").value_or(beside)),
            .host = host_name(),
            .slurm_user = slurm_user};
}

HiddenData hidden_data(const DbdConfig& config) {
    const auto has = [&](std::string_view word) {
        for (std::string_view each : split(config.private_data, ','))
            if (equals_ignoring_case(trim(each), word)) return true;
        return false;
    };
    return {.jobs = has("jobs"),
            .users = has("users"),
            .accounts = has("accounts"),
            .usage = has("usage"),
            .events = has("events"),
            .reservations = has("reservations")};
}

std::vector<PurgeRule> purge_rules(const DbdConfig& config) {
    using What = PurgeRule::What;
    std::vector<PurgeRule> rules;
    const auto add = [&](What what, const std::string& age, bool archive) {
        if (age.empty() || equals_ignoring_case(age, "none")) return;
        rules.push_back({what, parse_purge_age(age).value(), archive});
    };
    add(What::Jobs, config.purge.jobs, config.archive_jobs);
    add(What::Steps, config.purge.steps, config.archive_steps);
    add(What::Events, config.purge.events, config.archive_events);
    add(What::Reservations, config.purge.reservations, config.archive_reservations);
    add(What::Suspends, config.purge.suspends, config.archive_suspends);
    add(What::Transactions, config.purge.transactions, config.archive_transactions);
    add(What::Usage, config.purge.usage, config.archive_usage);
    return rules;
}

}  // namespace sluice
