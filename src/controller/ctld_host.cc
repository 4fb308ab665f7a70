#include "controller/ctld_host.h"

#include <algorithm>

#include "auth/handshake.h"
#include "controller/client_session.h"
#include "controller/fleet.h"
#include "controller/lease_keeper.h"
#include "model/errors.h"
#include "os/socket.h"

namespace sluice {

// With several SlurmctldHost a connection that was meant for another one of them must not be served
// here: a false server on that host could have forwarded it.
bool CtldHost::is_for_us(const std::string& destination) const {
    if (services_.lease) return destination == controller_destination(services_.lease->own_name());
    const auto live = services_.published.config.get();
    return destination == controller_destination(live->config.controllers.front().name);
}

bool CtldHost::may_speak() const {
    return !services_.lease || services_.lease->may_act();
}

void CtldHost::introduce(wire::Channel channel, wire::Welcome& welcome) const {
    if (channel == wire::CHANNEL_AGENT) welcome.set_launch_key(services_.signer.public_key());
}

// Nodes take orders for all users: only the cluster's own daemons may act as a node.
Result<void> CtldHost::admit(const wire::Hello& hello, const Identity& peer) {
    switch (hello.channel()) {
        case wire::CHANNEL_CLIENT:
            return {};
        case wire::CHANNEL_AGENT:
            return permit(services_.role(peer.user), Action::SpeakForNode);
        default:
            break;
    }
    return Error{ErrorCode::ProtocolError, "slurmctld does not serve this channel"};
}

asio::awaitable<void> CtldHost::serve(std::shared_ptr<Link> link, Identity peer,
                                      wire::Channel channel, std::size_t thread) {
    if (channel == wire::CHANNEL_AGENT) {
        co_await services_.fleet->serve(link, peer.user);
        co_return;
    }
    const auto session = std::make_shared<ClientSession>(
        link, Caller{peer.user, peer.group}, services_, services_.quick_listings.at(thread));
    co_await session->run();
}

std::string address_to_listen_on(const Config& config) {
    if (!config.has_flag(config.communication_parameters, "NoCtldInAddrAny")) return "";
    for (const ControllerHost& host : config.controllers) {
        if (is_local_address(host.address)) return host.address;
    }
    return config.controllers.front().address;
}

}  // namespace sluice
