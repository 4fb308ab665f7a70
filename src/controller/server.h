// controller/server.h
//
// Accepts connections and limits their resources: listens on TCP and on the host's own Unix socket,
// greets, identifies, and starts the session that was asked for. Two I/O threads, each with its own
// connections; no locks between them.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "auth/authenticator.h"
#include "controller/link.h"
#include "controller/listings.h"
#include "controller/services.h"
#include "os/fd.h"
#include "wire.pb.h"

namespace sluice {

// Some 20,000 connections, as far as the limits allow.
constexpr std::size_t kFilesWanted = 20256;

// One I/O thread and its connections.
class Worker {
public:
    Worker(Services& services, Authenticator& authenticator, std::size_t links_most,
           std::size_t number);

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
    asio::awaitable<std::optional<Caller>> greet(const std::shared_ptr<Link>& link,
                                                 wire::Channel& channel);
    // Fills in the Welcome and returns the caller.
    asio::awaitable<Result<Caller>> identify(const std::shared_ptr<Link>& link,
                                             const wire::Hello& hello, wire::Welcome& welcome);
    asio::awaitable<Result<Identity>> authenticate(const std::shared_ptr<Link>& link,
                                                   const wire::Hello& hello, wire::Welcome welcome);
    asio::awaitable<void> sweep();
    void add(Fd fd);
    bool make_room();

    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> keep_running_;
    Services& services_;
    Authenticator& authenticator_;
    const std::size_t links_most_;
    const std::size_t number_;  // among the I/O threads
    std::vector<char> scratch_;
    Listings listings_;
    Links links_;  // the oldest first
    std::thread thread_;
};

class Server {
public:
    Server(Services& services, Authenticator& authenticator);
    ~Server();

    asio::io_context& home() { return workers_.front()->context(); }
    // After this all connections are served.
    Result<void> listen(const Config& config);
    void start();
    void stop_listening();
    void stop();

private:
    asio::awaitable<void> accept(asio::posix::stream_descriptor& listener);

    std::vector<std::unique_ptr<Worker>> workers_;
    std::size_t next_worker_ = 0;
    std::list<asio::posix::stream_descriptor> listeners_;
};

}  // namespace sluice
