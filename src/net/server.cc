// net/server.cc
#include "net/server.h"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>

#include "base/log.h"
#include "os/self.h"
#include "os/socket.h"

namespace sluice {
namespace {

constexpr std::size_t kFilesForOthers = 256;  // the store, the log, libraries
constexpr std::size_t kAcceptsAtOnce = 64;
constexpr auto kAcceptPause = std::chrono::milliseconds(50);

std::size_t links_most() {
    const std::size_t files = raise_file_limit(kFilesWanted);
    return files > 2 * kFilesForOthers ? files - kFilesForOthers : kFilesForOthers;
}

}  // namespace

Server::Server(Host& host, Authenticator& authenticator) : host_(host) {
    const std::size_t most = links_most();
    for (std::size_t i = 0; i < kIoThreads; ++i) {
        workers_.push_back(std::make_unique<Worker>(host, authenticator, most / kIoThreads, i));
    }
}

Server::~Server() {
    stop();
}

Result<void> Server::listen(std::uint16_t port, const std::string& address) {
    // The local one first: a client that finds the other open can rely on it.
    Fd local = TRY(listen_local(host_.daemon(), port));
    Fd tcp = TRY(listen_tcp(port, address));
    for (Fd* fd : {&tcp, &local}) {
        auto& listener = listeners_.emplace_back(home(), fd->release());
        asio::co_spawn(home(), accept(listener), asio::detached);
    }
    return {};
}

void Server::start() {
    for (auto& worker : workers_) worker->start();
}

asio::awaitable<void> Server::accept(asio::posix::stream_descriptor& listener) {
    asio::steady_timer pause(home());
    while (true) {
        std::error_code error;
        co_await listener.async_wait(asio::posix::descriptor_base::wait_read,
                                     asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return;  // closed
        std::size_t count = accept_some(listener);
        if (count > 0) {
            // In between those that are here already are served: a command must not wait for
            // thousands of nodes that come back at once.
            while (count == kAcceptsAtOnce) {
                co_await asio::post(home(), asio::use_awaitable);
                count = accept_some(listener);
            }
            continue;
        }
        // A connection is pending but no descriptor is free.
        pause.expires_after(kAcceptPause);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
}

std::size_t Server::accept_some(asio::posix::stream_descriptor& listener) {
    if (!listener.is_open()) return 0;
    Fd borrowed(listener.native_handle());
    std::size_t count = 0;
    while (count < kAcceptsAtOnce) {
        Fd connection = accept_connection(borrowed);
        if (!connection) break;
        // The first stays in this thread: a single command is served without a thread switch.
        const std::size_t place = count++ == 0 ? 0 : next_worker_++ % workers_.size();
        workers_[place]->adopt(std::move(connection));
    }
    borrowed.release();
    return count;
}

void Server::stop_listening() {
    asio::post(home(), [this] {
        for (auto& listener : listeners_) {
            std::error_code ignored;
            listener.close(ignored);
        }
    });
}

void Server::stop() {
    for (auto& worker : workers_) worker->stop();
}

}  // namespace sluice
