// See controllers.h.
#include "dbd/controllers.h"

#include "auth/handshake.h"
#include "base/log.h"
#include "model/errors.h"
#include "net/peer.h"

namespace sluice {

namespace {

constexpr Seconds kPatience{2};
constexpr Seconds kSilence{30};  // in which a controller that did not answer is not asked again

}  // namespace

void Controllers::policy_changed(const Policy& policy, Time now) {
    for (const ClusterRecord& cluster : policy.clusters) {
        if (cluster.deleted || cluster.control_host.empty()) continue;
        {
            const std::lock_guard guard(mutex_);
            if (silent_until_[cluster.name] > now) continue;
        }
        const Result<void> told = tell(cluster);
        if (told) continue;
        log_info("cluster {} will notice the change later: {}", cluster.name,
                 to_string(told.error()));
        const std::lock_guard guard(mutex_);
        silent_until_[cluster.name] = now + kSilence;
    }
}

Result<void> Controllers::tell(const ClusterRecord& cluster) const {
    wire::Request request;
    request.mutable_ask_policy()->set_cluster(cluster.name);
    Config config;
    config.message_timeout = kPatience;
    const PeerHost host{
        {.address = cluster.control_host, .port = cluster.control_port, .daemon = "slurmctld"},
        controller_destination(cluster.control_host)};
    DaemonPeer peer;
    TRY(peer.ask({"slurmdbd", slurm_user_, authenticator_}, config, {host}, request));
    return {};
}

}  // namespace sluice
