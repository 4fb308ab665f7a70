// controller/standby.h
//
// A controller that is not the active one of several: it serves connections, but answers only who
// it is and which controller is active, and refuses everything else. It does nothing with what it
// refuses, so clients ask the next controller.
#pragma once

#include "controller/lease_keeper.h"
#include "controller/published.h"
#include "net/server.h"

namespace sluice {

class Standby : public Host {
public:
    // `published`: the configuration in force.
    Standby(const PublishedState& published, LeaseKeeper& keeper)
        : published_(published), keeper_(keeper) {}

    std::string_view daemon() const override { return "slurmctld"; }
    bool is_for_us(const std::string& destination) const override;
    // Nodes are turned away before munged is asked: all of them come while none is active.
    std::optional<Error> turns_away(wire::Channel channel) const override;
    Result<void> admit(const wire::Hello& hello, const Identity& peer) override;
    asio::awaitable<void> serve(std::shared_ptr<Link> link, Identity peer, wire::Channel channel,
                                std::size_t thread) override;
    wire::Reply answer(const wire::Request& request, UserId caller);

private:
    Error refusal() const;
    wire::Reply pong() const;

    const PublishedState& published_;
    LeaseKeeper& keeper_;
    const Time boot_time_ = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
};

}  // namespace sluice
