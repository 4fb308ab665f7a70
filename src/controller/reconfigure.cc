// controller/reconfigure.cc
#include "controller/reconfigure.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/post.hpp>

#include "auth/sha256.h"
#include "base/log.h"
#include "config/canonical.h"
#include "config/settings.h"
#include "controller/fleet.h"
#include "controller/reserved_groups.h"
#include "model/errors.h"
#include "os/user.h"

namespace sluice {
namespace {

std::vector<std::string> busy_nodes(const Snapshot& snapshot) {
    std::vector<std::string> names;
    snapshot.nodes.for_each([&](const Node& node) {
        if (!node.jobs.empty()) names.push_back(node.config.name);
    });
    return names;
}

}  // namespace

Result<std::shared_ptr<const LiveConfig>> load_live_config(const std::string& path) {
    auto live = std::make_shared<LiveConfig>();
    live->config = TRY(load_config(path));
    TRY(check_supported(live->config));
    const auto user = find_user(live->config.slurm_user);
    if (!user) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("SlurmUser={}: no such user", live->config.slurm_user)};
    }
    live->slurm_user = UserId{user->uid};
    live->hash = sha256(TRY(canonical_config(path)));
    return std::shared_ptr<const LiveConfig>(std::move(live));
}

void warn_of_unknown_qos(const Settings& settings, const Snapshot& snapshot) {
    for (const PartitionConfig& partition : settings.partitions) {
        const bool is_known =
            partition.qos.empty() ||
            std::any_of(snapshot.policy->qos.begin(), snapshot.policy->qos.end(),
                        [&](const Qos& qos) { return qos.name == partition.qos; });
        if (is_known) continue;
        log_error("Partition {} has an invalid qos ({}): it limits nobody until sacctmgr adds it",
                  partition.name, partition.qos);
    }
}

// Called when the core has applied it.
static void put_in_force(Services& services, std::shared_ptr<const LiveConfig> next,
                         const Settings& settings) {
    const auto current = services.published.config.get();
    for (const std::string& warning : new_warnings(next->config, &current->config)) {
        log_info("warning: {}", warning);
    }
    warn_of_unknown_qos(settings, *services.published.snapshot.get());
    set_log_level(next->config.slurmctld_debug);
    services.published.config.set(std::move(next));
    services.fleet->reconfigure();
    asio::post(services.slow_pool, [&services] {
        services.groups.forget();
        services.known_users.forget();
        refresh_reserved_groups(services);
    });
    log_info("slurm.conf was read again");
}

Result<Incoming> prepare_reconfigure(Services& services, RequestId request, const Caller& caller) {
    auto next = TRY(load_live_config(services.config_path));
    const auto current = services.published.config.get();
    TRY(check_reconfigure(current->config, next->config,
                          busy_nodes(*services.published.snapshot.get())));
    auto settings =
        std::make_shared<const Settings>(TRY(settings_from(next->config, next->slurm_user)));
    Incoming incoming;
    incoming.then = [&services, next, settings] { put_in_force(services, next, *settings); };
    incoming.event = Reconfigure{request, caller, std::move(settings)};
    incoming.request = request;
    return incoming;
}

}  // namespace sluice
