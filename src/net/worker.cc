// net/worker.cc
#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>

#include "auth/handshake.h"
#include "auth/validity.h"
#include "base/log.h"
#include "model/errors.h"
#include "net/run_on.h"
#include "net/server.h"
#include "os/socket.h"
#include "protocol/convert.h"
#include "protocol/frame.h"
#include "protocol/spoken_versions.h"

namespace sluice {
namespace {

constexpr auto kHelloMost = std::chrono::seconds(10);
constexpr auto kSweepEvery = std::chrono::seconds(1);
constexpr auto kFarewell = std::chrono::milliseconds(200);
constexpr std::size_t kScratchSize = 64u << 10;

}  // namespace

Worker::Worker(Host& host, Authenticator& authenticator, std::size_t links_most, std::size_t number)
    : keep_running_(context_.get_executor()),
      host_(host),
      authenticator_(authenticator),
      links_most_(links_most),
      number_(number),
      scratch_(kScratchSize) {
    asio::co_spawn(context_, sweep(), asio::detached);
}

void Worker::adopt(Fd fd) {
    asio::post(context_, [this, number = fd.release()] { add(Fd(number)); });
}

void Worker::add(Fd fd) {
    if (links_.size() >= links_most_ && !make_room()) {
        log_noise(LogLevel::Error, "all {} connections are in use: {} is turned away", links_most_,
                  peer_address(fd));
        return;
    }
    const auto local = peer_of(fd);
    std::string peer = peer_address(fd);
    Link::Socket socket(context_);
    std::error_code error;
    socket.assign(asio::generic::stream_protocol(local ? AF_UNIX : AF_INET, 0), fd.get(), error);
    if (error) return;
    fd.release();
    auto link = std::make_shared<Link>(std::move(socket), scratch_, std::move(peer));
    if (local) link->local_peer = Identity{UserId{local->uid}, GroupId{local->gid}};
    link->set_gate([this] { return host_.may_speak(); });
    link->expect_until(std::chrono::steady_clock::now() + kHelloMost);
    const auto place = links_.insert(links_.end(), std::move(link));
    asio::co_spawn(context_, serve(place), asio::detached);
}

// Closes connections that are not identified first, then idle ones.
bool Worker::make_room() {
    for (const bool greeted : {false, true}) {
        for (const auto& link : links_) {
            if (link->closed() || link->greeted != greeted || !link->idle()) continue;
            link->close();
            return true;
        }
    }
    return false;
}

asio::awaitable<void> Worker::serve(Links::iterator place) {
    const std::shared_ptr<Link> link = *place;
    try {
        wire::Channel channel{};
        if (const auto peer = co_await greet(link, channel))
            co_await host_.serve(link, *peer, channel, number_);
    } catch (const std::exception& exception) {
        log_error("{}: {}", link->peer(), exception.what());
    }
    link->close();
    links_.erase(place);
}

asio::awaitable<std::optional<Identity>> Worker::greet(const std::shared_ptr<Link>& link,
                                                       wire::Channel& channel) {
    const auto message = co_await link->read();
    if (!message) co_return std::nullopt;
    const auto hello = decode<wire::Hello>(*message);
    if (!hello) {
        log_debug("{}: not one of ours", link->peer());
        co_return std::nullopt;
    }
    link->expect_until(std::nullopt);
    channel = hello->channel();
    wire::Welcome welcome;
    const auto peer = co_await identify(link, *hello, welcome);
    if (!peer) *welcome.mutable_error() = to_wire(peer.error());
    // A command sends its request along with the Hello and waits only for the answer to that.
    link->send_with_next(framed(welcome));
    if (channel != wire::CHANNEL_CLIENT || !peer) link->flush();
    if (!peer) {
        log_noise(LogLevel::Info, "{}: {} refused: {}", link->peer(), hello->program(),
                  to_string(peer.error()));
        co_await link->flushed();
        co_return std::nullopt;
    }
    link->greeted = true;
    link->set_message_max(kFrameSizeMax);
    co_return *peer;
}

asio::awaitable<Result<Identity>> Worker::identify(const std::shared_ptr<Link>& link,
                                                   const wire::Hello& hello,
                                                   wire::Welcome& welcome) {
    welcome.set_clock(to_unix(wall_clock()));
    const auto version = common_version(hello, host_.daemon());
    welcome.set_version(version ? *version : spoken_versions().most);
    if (!version) co_return version.error();
    if (auto refusal = host_.turns_away(hello.channel())) co_return *std::move(refusal);
    host_.introduce(hello.channel(), welcome);
    Identity identity;
    if (link->local_peer) {
        identity = *link->local_peer;
    } else {
        const auto proven = co_await authenticate(link, hello, welcome);
        if (!proven) co_return proven.error();
        identity = *proven;
    }
    const auto allowed = host_.admit(hello, identity);
    if (!allowed) co_return allowed.error();
    co_return identity;
}

// Over TCP: the daemon proves its identity first, then the client does.
asio::awaitable<Result<Identity>> Worker::authenticate(const std::shared_ptr<Link>& link,
                                                       const wire::Hello& hello,
                                                       wire::Welcome welcome) {
    const auto complete = check_hello(hello, host_.is_for_us(hello.destination()));
    if (!complete) co_return complete.error();
    welcome.set_nonce(make_nonce());
    const auto vouch = [&] {
        return authenticator_.vouch(server_digest(hello, welcome), std::nullopt, wall_clock());
    };
    const auto own = co_await run_on(host_.identify_pool, vouch);
    if (!own) co_return own.error();
    welcome.set_credential(*own);

    link->expect_until(std::chrono::steady_clock::now() + kHelloMost);
    link->send(framed(welcome));
    const auto message = co_await link->read();
    link->expect_until(std::nullopt);
    if (!message) {
        co_return Error{ErrorCode::AuthenticationFailed,
                        "it closed the connection after the Welcome"};
    }
    const auto proof = decode<wire::Proof>(*message);
    if (!proof) co_return proof.error();
    const auto check = [&] {
        return authenticator_.check(proof->credential(),
                                    client_digest(hello, welcome, proof->request_hash()),
                                    wall_clock());
    };
    const auto identity = co_await run_on(host_.identify_pool, check);
    if (identity) link->expect_hash(proof->request_hash());
    co_return identity;
}

asio::awaitable<void> Worker::sweep() {
    asio::steady_timer timer(context_);
    while (true) {
        timer.expires_after(kSweepEvery);
        std::error_code error;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
        end_noise_second();
        const auto now = std::chrono::steady_clock::now();
        host_.beat(number_, now);
        for (const auto& link : links_) {
            if (!link->expired(now)) continue;
            log_debug("{}: silent for too long, closed", link->peer());
            link->close();
        }
    }
}

void Worker::stop() {
    if (!thread_.joinable()) return;
    asio::co_spawn(
        context_,
        [this]() -> asio::awaitable<void> {
            const auto most = std::chrono::steady_clock::now() + kFarewell;
            asio::steady_timer timer(context_);
            for (const auto& link : links_) link->finish();
            while (!links_.empty() && std::chrono::steady_clock::now() < most) {
                timer.expires_after(std::chrono::milliseconds(5));
                co_await timer.async_wait(asio::use_awaitable);
            }
            context_.stop();
        },
        asio::detached);
    thread_.join();
}

}  // namespace sluice
