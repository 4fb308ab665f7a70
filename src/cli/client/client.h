// cli/client/client.h
//
// How a tool talks to the cluster: one question, one answer. The interface is what tools see, so
// that golden tests can answer themselves; ClusterClient is the real one. It reads the settings
// of slurm.conf at the first need and connects at the first call; a tool that only prints its help
// does neither.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/common/tool.h"
#include "config/config.h"
#include "model/ids.h"
#include "os/socket.h"
#include "protocol/frame.h"
#include "wire.pb.h"

namespace sluice {

class Client;

// What may happen while an answer takes its time.
struct Waiting {
    std::chrono::milliseconds slow_after{0};          // then on_slow is called, once
    std::function<void(Client& other)> on_slow = {};  // may ask with it: ours is waiting
    std::optional<std::chrono::milliseconds> give_up_after = {};  // with ErrorCode::Timeout
    int wake_fd = -1;  // readable: give up with ErrorCode::None
};

// A connection that was made, and what is to be sent on it first.
struct OpenedNode {
    Connection connection;
    std::string unsent;
};
using FirstMessage = std::function<wire::StepInput(const Connection&)>;

class Client {
public:
    virtual ~Client() = default;
    virtual Result<const Config*> config() = 0;
    // The answer; a refusal by the controller is an error like any other.
    virtual Result<wire::Reply> call(const wire::Request& request, const Waiting& waiting = {}) = 0;
    // A connection to a node's slurmd for a step. The slurmd answers with a Welcome.
    virtual Result<OpenedNode> connect_node(const wire::NodeAddress& node,
                                            const FirstMessage& first) = 0;
    // The same question to one of several controllers, by its place in slurm.conf, whether it is
    // the active one or not. It is not repeated.
    virtual Result<wire::Reply> call_controller(std::size_t /*place*/,
                                                const wire::Request& request) {
        return call(request);
    }
};

// The only controller of the cluster, on this host and reachable by its Unix socket. No name
// service, no libmunge and no TCP is needed to talk to it.
struct LocalController {
    std::unique_ptr<Config> config;
    UserId slurm_user;
    Connection connection;
};
std::optional<LocalController> find_local_controller(const Environment& environment);

class ClusterClient : public Client {
public:
    explicit ClusterClient(const Invocation& invocation) : invocation_(invocation) {}
    // Uses nothing but the Unix socket, also when it has to connect again.
    ClusterClient(const Invocation& invocation, LocalController controller);

    Result<const Config*> config() override;
    Result<wire::Reply> call(const wire::Request& request, const Waiting& waiting = {}) override;
    Result<wire::Reply> call_controller(std::size_t place, const wire::Request& request) override;
    Result<OpenedNode> connect_node(const wire::NodeAddress& node,
                                    const FirstMessage& first) override;
    void hang_up() { connection_ = {}; }

private:
    using Clock = std::chrono::steady_clock;

    // How long a request looks for a controller that is there, and is the active one.
    struct Search {
        Clock::time_point start, deadline;
        bool stays = false;  // without limit
        std::chrono::milliseconds delay;
        std::size_t tried = 0;  // servers since the last pause
    };
    Search search_for(const wire::Request& request, const Waiting& waiting) const;
    Result<void> pause(Search& search, const Waiting& waiting);
    Result<void> try_the_next(Search& search, const Waiting& waiting, const Error& why);
    Result<std::string> connect_controller(const wire::Request& request, Search& search,
                                           const Waiting& waiting);
    // A daemon that can answer a request, and its name in the handshake.
    struct Server {
        Endpoint endpoint;
        std::string destination;
    };
    bool is_for_dbd(const wire::Request& request) const;
    std::vector<Server> servers_for(const wire::Request& request) const;
    Result<Connection> connect(const Endpoint& endpoint, std::chrono::milliseconds timeout);
    Result<std::string> open_to(const Server& server, const wire::Request& request,
                                std::chrono::milliseconds timeout);
    // `told`: on_slow was called.
    Result<wire::Reply> exchange(const wire::Request& request, Search& search,
                                 const Waiting& waiting, bool& told);
    Result<wire::Reply> receive(const wire::Request& request, const Waiting& waiting, bool& told);
    void give_way();
    Result<void> wait_readable(Clock::time_point start, const wire::Request& request,
                               const Waiting& waiting, bool& told);
    bool has_backups() const;
    bool is_still_served();

    const Invocation& invocation_;
    std::unique_ptr<Config> config_;
    std::optional<LocalController> local_;
    Connection connection_;
    FrameReader reader_{kReplySizeMax};
    std::size_t server_ = 0;  // of those that could answer: which one to try
    bool is_at_dbd_ = false;  // the connection is one to slurmdbd
    bool welcomed_ = false;
    bool told_of_retry_ = false;
    Clock::time_point probe_at_{};  // of the request that waits
    bool gave_way_ = false;         // is nicer than it was started
};

}  // namespace sluice
