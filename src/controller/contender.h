// controller/contender.h
//
// This process as one of several controllers of a shared state: until it becomes the active one it
// is a standby, which answers that it is one, and keeps a copy of the state warm.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "controller/controller.h"
#include "controller/lease_keeper.h"
#include "controller/standby.h"
#include "controller/warm_state.h"

namespace sluice {

// The name of this controller as SlurmctldHost has it: the line with the name of this host, or else
// the first one with an address of this host.
Result<std::string> own_controller(const Config& config);

class Contender {
public:
    // Serves as a standby. `on_change`: see LeaseKeeper.
    static Result<std::unique_ptr<Contender>> start(const std::shared_ptr<const LiveConfig>& live,
                                                    std::function<void()> on_change);
    ~Contender();

    LeaseKeeper& keeper() { return *keeper_; }
    void replace_config(std::shared_ptr<const LiveConfig> config) {
        published_.config.set(std::move(config));
    }
    // Once the keeper has the lease: all that the controllers before this one have committed. Fails
    // if the lease is lost before it was read.
    Result<Takeover> take_over();

private:
    Contender() = default;
    void follow();
    bool catch_up();
    bool succeeds(const Result<void>& reading);

    PublishedState published_;  // the configuration
    std::unique_ptr<Authenticator> authenticator_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<LeaseKeeper> keeper_;
    std::optional<Standby> standby_;
    std::optional<Server> server_;
    WarmState warm_;  // used by the follower, then by take_over()
    std::string last_problem_;
    std::atomic<bool> following_{true};
    std::thread follower_;
};

}  // namespace sluice
