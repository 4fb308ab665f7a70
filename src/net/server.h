// net/server.h
//
// Accepts connections of a daemon and limits their resources: listens on TCP and on the host's own
// Unix socket, greets, identifies, and starts the session that was asked for. Two I/O threads, each
// with its own connections; no locks between them.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/thread_pool.hpp>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "auth/authenticator.h"
#include "net/link.h"
#include "os/fd.h"
#include "wire.pb.h"

namespace sluice {

constexpr std::size_t kIoThreads = 2;

// What a daemon decides about its connections. Called by the I/O threads.
class Host {
public:
    virtual ~Host() = default;
    virtual std::string_view daemon() const = 0;  // "slurmctld"
    // Over TCP: whether a Hello with this destination (auth/handshake.h) is meant for this daemon.
    virtual bool is_for_us(const std::string& destination) const = 0;
    // Before the peer is asked who it is: why this channel cannot be opened now.
    virtual std::optional<Error> turns_away(wire::Channel /*channel*/) const { return {}; }
    // Adds to the Welcome what the channel needs and the daemon's credential covers.
    virtual void introduce(wire::Channel /*channel*/, wire::Welcome& /*welcome*/) const {}
    // Whether this peer may open the channel.
    virtual Result<void> admit(const wire::Hello& hello, const Identity& peer) = 0;
    // Until the connection ends. `thread`: the number of the I/O thread.
    virtual asio::awaitable<void> serve(std::shared_ptr<Link> link, Identity peer,
                                        wire::Channel channel, std::size_t thread) = 0;
    // Asked before anything is sent on any connection; if not, the connection ends.
    virtual bool may_speak() const { return true; }
    virtual void beat(std::size_t /*thread*/, SteadyTime /*now*/) {}  // once a second

    asio::thread_pool identify_pool{4};  // a TCP connection asks munged twice
};

// Some 20,000 connections, as far as the limits allow.
constexpr std::size_t kFilesWanted = 20256;

// One I/O thread and its connections.
class Worker {
public:
    Worker(Host& host, Authenticator& authenticator, std::size_t links_most, std::size_t number);

    void start() {
        thread_ = std::thread([this] { context_.run(); });
    }
    // Waits a moment for answers to be sent, then ends.
    void stop();
    void adopt(Fd fd);  // from any thread
    asio::io_context& context() { return context_; }

private:
    using Links = std::list<std::shared_ptr<Link>>;

    asio::awaitable<void> serve(Links::iterator place);
    asio::awaitable<std::optional<Identity>> greet(const std::shared_ptr<Link>& link,
                                                   wire::Channel& channel);
    // Fills in the Welcome and returns the peer.
    asio::awaitable<Result<Identity>> identify(const std::shared_ptr<Link>& link,
                                               const wire::Hello& hello, wire::Welcome& welcome);
    asio::awaitable<Result<Identity>> authenticate(const std::shared_ptr<Link>& link,
                                                   const wire::Hello& hello, wire::Welcome welcome);
    asio::awaitable<void> sweep();
    void add(Fd fd);
    bool make_room();

    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> keep_running_;
    Host& host_;
    Authenticator& authenticator_;
    const std::size_t links_most_;
    const std::size_t number_;  // among the I/O threads
    std::vector<char> scratch_;
    Links links_;  // the oldest first
    std::thread thread_;
};

class Server {
public:
    Server(Host& host, Authenticator& authenticator);
    ~Server();

    asio::io_context& home() { return workers_.front()->context(); }
    // After this all connections are served.
    // `address`: to listen on; empty: every one.
    Result<void> listen(std::uint16_t port, const std::string& address);
    void start();
    void stop_listening();
    void stop();

private:
    asio::awaitable<void> accept(asio::posix::stream_descriptor& listener);
    std::size_t accept_some(asio::posix::stream_descriptor& listener);

    Host& host_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::size_t next_worker_ = 0;
    std::list<asio::posix::stream_descriptor> listeners_;
};

}  // namespace sluice
