// agent/controller_link.h
//
// The connection to slurmctld: made again for ever, with a growing pause, trying each controller
// in turn. On each new one the node registers and sends again what was not acknowledged.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/credentials.h"
#include "agent/outbox.h"
#include "agent/site.h"
#include "os/socket.h"
#include "os/stream.h"
#include "protocol/frame.h"

namespace sluice {

class ControllerLink {
public:
    struct Handlers {
        std::function<wire::Register()> registration;
        std::function<void(const wire::AgentOrder&)> on_order;  // all but acks and the greeting
        std::function<void(const wire::AgentReport&)> on_acknowledged;
    };

    ControllerLink(EventLoop& loop, std::shared_ptr<const Site> site,
                   std::shared_ptr<Credentials> credentials, Handlers handlers);

    void start();
    void replace_site(std::shared_ptr<const Site> site);  // registers again
    void report(wire::AgentReport report);                // kept until acknowledged
    void send_once(const wire::AgentReport& report);      // lost with the connection
    bool registered() const { return registered_; }
    const Outbox& outbox() const { return outbox_; }

private:
    void connect();
    void on_connected(Connection connection);
    void greet(bool local);
    void on_data(std::string_view bytes);
    void on_order(const wire::AgentOrder& order);
    void send_unsent();
    void retry(const std::string& why);
    Endpoint endpoint() const;

    EventLoop& loop_;
    std::shared_ptr<const Site> site_;
    std::shared_ptr<Credentials> credentials_;
    Handlers handlers_;
    Outbox outbox_;
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Stream> previous_;  // deaf; open until there is a new one
    std::size_t connections_ = 0;
    Fd connecting_;
    FrameReader reader_;
    EventLoop::TimerId timer_ = 0;
    std::string unsent_;  // frames
    EventLoop::TimerId unsent_timer_ = 0;
    std::size_t attempt_ = 0;
    std::chrono::milliseconds pause_;
    bool welcomed_ = false;
    bool registered_ = false;
    std::string last_failure_;
};

}  // namespace sluice
