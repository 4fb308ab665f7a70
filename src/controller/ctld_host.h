// controller/ctld_host.h
//
// What slurmctld decides about its connections: commands get a session of their own, nodes join the
// fleet.
#pragma once

#include "controller/services.h"
#include "net/server.h"

namespace sluice {

class CtldHost : public Host {
public:
    explicit CtldHost(Services& services) : services_(services) {}

    std::string_view daemon() const override { return "slurmctld"; }
    bool is_for_us(const std::string& destination) const override;
    void introduce(wire::Channel channel, wire::Welcome& welcome) const override;
    Result<void> admit(const wire::Hello& hello, const Identity& peer) override;
    asio::awaitable<void> serve(std::shared_ptr<Link> link, Identity peer, wire::Channel channel,
                                std::size_t thread) override;
    bool may_speak() const override;
    void beat(std::size_t thread, SteadyTime now) override { services_.io_pulse.beat(thread, now); }

private:
    Services& services_;
};

// Compat: every address ("") unless CommunicationParameters=NoCtldInAddrAny.
std::string address_to_listen_on(const Config& config);

}  // namespace sluice
