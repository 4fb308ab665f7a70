// net/link.h
//
// One connection, message by message. It lives on one I/O thread and holds no buffer while idle:
// thousands of silent ones cost little. A peer that sends garbage, is silent for too long or does
// not read its answers is disconnected; other connections are not affected. Any thread may send:
// what the socket takes at once is written there, the rest by the link's own thread.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "auth/identity.h"
#include "protocol/frame.h"

namespace sluice {

using Bytes = std::shared_ptr<const std::string>;  // framed; one listing may go to many links
Bytes framed(const google::protobuf::MessageLite& message);
using SteadyTime = std::chrono::steady_clock::time_point;

class Link : public std::enable_shared_from_this<Link> {
public:
    using Socket = asio::generic::stream_protocol::socket;

    // `scratch` belongs to the thread: it is used only between two suspensions.
    Link(Socket socket, std::span<char> scratch, std::string peer);

    asio::any_io_executor executor() { return socket_.get_executor(); }
    const std::string& peer() const { return peer_; }  // for logs

    // The next message; nothing once the connection has ended. The view is valid until the next
    // call. Before it waits, `flush_first` sends pending output.
    asio::awaitable<std::optional<std::string_view>> read(bool flush_first = true);
    void set_message_max(std::size_t size) { reader_.set_size_max(size); }
    // The next message must have this hash, or the connection ends.
    void expect_hash(std::string hash) { expected_hash_ = std::move(hash); }
    // Called for every message as soon as its size is known. One that is not admitted is dropped as
    // it arrives; read() then returns an empty message, and was_refused() is true until the next.
    using Admit = std::function<bool(std::size_t size)>;
    void set_admission(Admit admit) { admit_ = std::move(admit); }
    bool was_refused() const { return was_refused_; }
    // Asked by any thread before it writes: if not, the connection ends.
    void set_gate(std::function<bool()> gate) { gate_ = std::move(gate); }

    // From any thread.
    void send(Bytes message);
    void send_with_next(Bytes message);  // sent with the next one
    void flush();                        // sends pending output now
    bool closed() const { return closed_; }
    // A link that has not sent what was expected by then is closed by the server's sweep.
    void expect_until(std::optional<SteadyTime> time) {
        read_deadline_ = time.value_or(SteadyTime::max());
    }

    asio::awaitable<void> flushed();  // until all output was sent, or cannot be
    void finish();                    // closes once all output was sent
    void close();
    bool expired(SteadyTime now) const;

    std::optional<Identity> local_peer;  // as the kernel says, on a Unix socket
    bool greeted = false;                // and identified: closed last when connections run short
    bool idle() const { return read_deadline_.load() != SteadyTime::max(); }

private:
    bool is_expected(std::string_view message);
    // With output_mutex_ held. Writes what the socket takes at once; false: the connection is
    // broken.
    bool write_some();
    asio::awaitable<void> write_rest();
    bool writing() const;
    void close_soon();

    Socket socket_;
    std::span<char> scratch_;
    std::string peer_;
    FrameReader reader_{kHelloSizeMax};
    std::optional<std::string> expected_hash_;
    Admit admit_;  // null: all are
    std::function<bool()> gate_ = [] { return true; };
    bool is_admitted_ = false;  // the message that is arriving
    bool was_refused_ = false;
    std::atomic<SteadyTime> read_deadline_{SteadyTime::max()};
    asio::steady_timer written_;  // cancelled when the output was sent: wakes flushed()
    std::atomic<bool> closed_{false};

    mutable std::mutex output_mutex_;  // for all below, and for closing the socket
    std::deque<Bytes> output_;
    std::size_t output_size_ = 0;
    std::size_t written_of_first_ = 0;
    bool writing_ = false;  // write_rest() is active
    bool finishing_ = false;
    SteadyTime write_deadline_ = SteadyTime::max();
};

}  // namespace sluice
