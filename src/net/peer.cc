// See peer.h.
#include "net/peer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "model/errors.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

Error unreachable(std::string detail) {
    return {ErrorCode::ControllerUnreachable, std::move(detail)};
}

}  // namespace

Result<wire::Reply> DaemonPeer::ask(const AskingDaemon& asker, const Config& config,
                                    const std::vector<PeerHost>& hosts,
                                    const wire::Request& request) {
    std::string bytes;
    if (connection_.fd)
        append_frame(bytes, request);
    else
        bytes = TRY(connect(asker, config, hosts, request));
    Result<wire::Reply> reply = exchange(bytes, config.message_timeout);
    if (!reply) connection_ = {};
    if (reply && reply->has_error()) return from_wire(reply->error());
    return reply;
}

Result<std::string> DaemonPeer::connect(const AskingDaemon& asker, const Config& config,
                                        const std::vector<PeerHost>& hosts,
                                        const wire::Request& request) {
    Error last = unreachable("no host is configured");
    for (const PeerHost& host : hosts) {
        Result<Connection> connection = connect_to(host.endpoint, config.message_timeout);
        const Opening opening{.tool = asker.daemon,
                              .config = config,
                              .channel = wire::CHANNEL_CLIENT,
                              .destination = host.destination,
                              .slurm_user = asker.slurm_user,
                              .authenticator = &asker.authenticator};
        Result<std::string> bytes =
            connection ? open_channel(*connection, opening, request) : connection.error();
        if (bytes) {
            connection_ = *std::move(connection);
            reader_ = FrameReader(kReplySizeMax);
            is_welcomed_ = false;
            return bytes;
        }
        last =
            unreachable(fmt::format("{} at {}:{}: {}", host.endpoint.daemon, host.endpoint.address,
                                    host.endpoint.port, to_string(bytes.error())));
    }
    return last;
}

Result<wire::Reply> DaemonPeer::exchange(const std::string& bytes, Seconds timeout) {
    if (!send_all(connection_.fd.get(), bytes)) return unreachable("connection lost");
    while (true) {
        while (std::optional<std::string_view> frame = TRY(reader_.next())) {
            if (is_welcomed_) return decode<wire::Reply>(*frame);
            const wire::Welcome welcome = TRY(decode<wire::Welcome>(*frame));
            if (welcome.has_error()) return from_wire(welcome.error());
            is_welcomed_ = true;
        }
        pollfd entry{connection_.fd.get(), POLLIN, 0};
        const auto wait = std::chrono::milliseconds(timeout).count();
        if (poll(&entry, 1, static_cast<int>(wait)) <= 0) return unreachable("no answer");
        char buffer[65536];
        const ssize_t size = recv(connection_.fd.get(), buffer, sizeof buffer, 0);
        if (size <= 0) return unreachable("connection lost");
        reader_.feed({buffer, static_cast<std::size_t>(size)});
    }
}

}  // namespace sluice
