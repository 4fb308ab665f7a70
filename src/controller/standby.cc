#include "controller/standby.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "auth/handshake.h"
#include "base/audit_log.h"
#include "controller/pong.h"
#include "controller/reconfigure.h"
#include "controller/replies.h"
#include "core/permission.h"
#include "model/errors.h"
#include "os/socket.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

constexpr auto kIdleMost = std::chrono::seconds(60);

wire::Reply done() {
    wire::Reply reply;
    reply.mutable_done();
    return reply;
}

}  // namespace

bool Standby::is_for_us(const std::string& destination) const {
    return destination == controller_destination(keeper_.own_name());
}

Error Standby::refusal() const {
    const std::string active = keeper_.active();
    const std::string trouble = keeper_.view().trouble;
    if (!active.empty())
        return {ErrorCode::InStandby, fmt::format("{} is the active controller", active)};
    if (trouble.empty()) return {ErrorCode::InStandby, "no controller is active"};
    return {ErrorCode::InStandby, fmt::format("no controller is active: {}", trouble)};
}

std::optional<Error> Standby::turns_away(wire::Channel channel) const {
    if (channel == wire::CHANNEL_CLIENT) return std::nullopt;
    return refusal();
}

Result<void> Standby::admit(const wire::Hello& hello, const Identity&) {
    if (hello.channel() == wire::CHANNEL_CLIENT) return {};
    return refusal();
}

asio::awaitable<void> Standby::serve(std::shared_ptr<Link> link, Identity peer, wire::Channel,
                                     std::size_t) {
    link->expect_until(std::chrono::steady_clock::now() + kIdleMost);
    while (const auto message = co_await link->read()) {
        const auto request = decode<wire::Request>(*message);
        if (!request) break;
        const wire::Reply reply = answer(*request, peer.user);
        link->send(framed_reply(reply));
        link->expect_until(std::chrono::steady_clock::now() + kIdleMost);
        if (!request->has_shutdown() || !reply.has_done()) continue;
        co_await link->flushed();
        kill(getpid(), SIGTERM);
    }
}

// Administrators of accounting are not known here: root and SlurmUser only.
wire::Reply Standby::answer(const wire::Request& request, UserId caller) {
    const auto live = published_.config.get();
    const auto allowed = [&](Action action) {
        return permit(role_of(caller, live->slurm_user), action);
    };
    switch (request.body_case()) {
        case wire::Request::kPing:
            return pong();
        case wire::Request::kTakeOver:
            if (const auto may = allowed(Action::Shutdown); !may) return error_reply(may.error());
            if (const std::string trouble = keeper_.view().trouble; !trouble.empty())
                return error_reply({ErrorCode::InStandby, "it cannot take over: " + trouble});
            log_audit("uid {}: takeover", caller.value);
            keeper_.ask_for_lease();
            return done();
        case wire::Request::kReconfigure:
            if (const auto may = allowed(Action::Reconfigure); !may)
                return error_reply(may.error());
            if (const auto next = load_live_config(live->config.path); !next)
                return error_reply(next.error());
            log_audit("uid {}: reconfigure", caller.value);
            kill(getpid(), SIGHUP);
            return done();
        case wire::Request::kShutdown:
            if (const auto may = allowed(Action::Shutdown); !may) return error_reply(may.error());
            log_audit("uid {}: shutdown", caller.value);
            return done();
        default:
            return error_reply(refusal());
    }
}

wire::Reply Standby::pong() const {
    wire::Reply reply;
    wire::Pong& pong = *reply.mutable_pong();
    pong = describe_controller(*published_.config.get(), host_name(), boot_time_);
    pong.set_standby(true);
    pong.set_active(keeper_.active());
    pong.set_controller(keeper_.own_name());
    pong.set_trouble(keeper_.view().trouble);
    return reply;
}

}  // namespace sluice
