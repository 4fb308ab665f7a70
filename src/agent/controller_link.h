// agent/controller_link.h
//
// The connection to slurmctld: made again for ever, with a growing pause, trying each controller
// in turn. The server must prove that it runs as root or SlurmUser before anything it says counts.
// On each new connection the node registers and sends again what was not acknowledged.
//
// Of several controllers only the active one registers nodes. It sends something every second: a
// node that hears nothing for a while looks for another one, as the connection to a controller that
// was stopped or cut off does not end by itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "agent/site.h"
#include "agent/slow_work.h"
#include "auth/authenticator.h"
#include "node/outbox.h"
#include "os/socket.h"
#include "os/stream.h"
#include "protocol/frame.h"

namespace sluice {

// Between half of the pause and all of it: nodes that lost their controller together come back one
// after another.
std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause, std::uint32_t dice);

class ControllerLink {
public:
    struct Handlers {
        std::function<void(const std::string&)> on_launch_key;  // the controller's, proven
        std::function<wire::Register()> registration;
        std::function<void(const wire::AgentOrder&)> on_order;  // all but acks and the greeting
        std::function<void(const wire::AgentReport&)> on_acknowledged;
    };

    ControllerLink(EventLoop& loop, std::shared_ptr<const Site> site,
                   std::shared_ptr<Authenticator> authenticator, SlowWork& slow_work,
                   Handlers handlers);

    void start();
    void replace_site(std::shared_ptr<const Site> site);  // registers again
    void report(wire::AgentReport report);                // kept until acknowledged
    void send_once(const wire::AgentReport& report);      // lost with the connection
    bool registered() const { return registered_; }
    const Outbox<wire::AgentReport>& outbox() const { return outbox_; }

private:
    void connect();
    void look_up_and_connect(const Endpoint& where);
    void on_started(Result<Connection> connection, const Endpoint& where);
    void on_connected(Connection connection);
    void on_data(std::string_view bytes);
    Result<void> on_welcome(std::string_view frame);
    Result<void> prove(const wire::Welcome& welcome);
    void send_proof(const wire::Proof& proof, const std::string& launch_key,
                    const std::string& registration);
    std::string registration_frame();
    void on_order(const wire::AgentOrder& order);
    void send_unsent();
    void retry(const std::string& why);
    const ControllerHost& host() const;
    bool has_backups() const { return site_->config.controllers.size() > 1; }
    void listen_for_silence();
    UserId slurm_user() const { return UserId{site_->slurm_user}; }

    EventLoop& loop_;
    std::shared_ptr<const Site> site_;
    std::shared_ptr<Authenticator> authenticator_;
    SlowWork& slow_work_;
    Handlers handlers_;
    Outbox<wire::AgentReport> outbox_;
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Stream> previous_;  // no longer read; open until there is a new one
    std::size_t connections_ = 0;       // changes with each, and when one is given up
    Fd connecting_;
    int look_ups_ = 0;  // of the controller's address, on other threads
    FrameReader reader_;
    EventLoop::TimerId timer_ = 0;
    std::chrono::steady_clock::time_point heard_{};  // when the controller was
    std::string unsent_;                             // frames
    EventLoop::TimerId unsent_timer_ = 0;
    std::size_t attempt_ = 0;
    std::minstd_rand dice_{std::random_device{}()};
    std::chrono::milliseconds pause_;
    wire::Hello hello_;
    bool is_local_ = false;  // on a Unix socket, whose peer the kernel names
    bool proving_ = false;   // the server's credential is being checked, and ours made
    bool proven_ = false;    // the server is who it should be
    bool welcomed_ = false;  // and takes us for who we are
    bool registered_ = false;
    std::map<std::string, std::string> failures_;  // the last of each controller
};

}  // namespace sluice
