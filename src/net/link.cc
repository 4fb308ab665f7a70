// net/link.cc
#include "net/link.h"

#include <sys/socket.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>

#include "auth/handshake.h"
#include "base/log.h"
#include "model/errors.h"

namespace sluice {
namespace {

using asio::redirect_error;
using asio::use_awaitable;

constexpr auto kWriteProgress = std::chrono::seconds(30);  // a reader may be this slow
constexpr std::size_t kOutputMost = 1u << 30;              // bytes waiting for one reader
constexpr std::size_t kGather = 32;                        // messages in one system call

}  // namespace

Link::Link(Socket socket, std::span<char> scratch, std::string peer)
    : socket_(std::move(socket)),
      scratch_(scratch),
      peer_(std::move(peer)),
      written_(socket_.get_executor()) {
    std::error_code ignored;
    socket_.non_blocking(true, ignored);
}

asio::awaitable<std::optional<std::string_view>> Link::read(bool flush_first) {
    was_refused_ = false;
    while (!closed()) {
        if (was_refused_ && !reader_.is_skipping()) co_return std::string_view{};
        const auto message = reader_.next();
        if (!message) {
            log_debug("{}: {}", peer_, to_string(message.error()));
            break;
        }
        const bool is_whole = message->has_value();
        const auto announced = is_whole ? std::optional((*message)->size()) : reader_.announced();
        if (announced && !is_admitted_) {
            was_refused_ = admit_ && !admit_(*announced);
            if (was_refused_ && !is_whole) reader_.skip();
            if (was_refused_) continue;  // a repeated message must still have the expected hash
        }
        is_admitted_ = announced && !is_whole;
        if (is_whole && !is_expected(**message)) break;
        if (is_whole) co_return **message;

        std::error_code error;
        std::size_t size = socket_.read_some(asio::buffer(scratch_.data(), scratch_.size()), error);
        if (error == asio::error::would_block) {
            error.clear();
            if (flush_first) flush();
            co_await socket_.async_wait(Socket::wait_read, redirect_error(use_awaitable, error));
            if (!error) continue;
        }
        if (error) break;
        reader_.feed({scratch_.data(), size});
    }
    co_return std::nullopt;
}

bool Link::is_expected(std::string_view message) {
    if (!expected_hash_) return true;
    const auto checked = check_request_hash(*expected_hash_, message);
    expected_hash_.reset();
    if (!checked) log_error("{}: {}", peer_, to_string(checked.error()));
    return checked.has_value();
}

void Link::send(Bytes message) {
    send_with_next(std::move(message));
    flush();
}

void Link::send_with_next(Bytes message) {
    const std::lock_guard guard(output_mutex_);
    if (closed_) return;
    output_size_ += message->size();
    output_.push_back(std::move(message));
    if (output_size_ > kOutputMost) {
        log_error("{}: does not read what it asked for, closed", peer_);
        close_soon();
    }
}

void Link::flush() {
    const std::lock_guard guard(output_mutex_);
    if (writing_ || closed_ || output_.empty()) return;
    if (!write_some()) return close_soon();
    if (output_.empty()) return;
    writing_ = true;
    asio::co_spawn(
        executor(), [self = shared_from_this()] { return self->write_rest(); }, asio::detached);
}

bool Link::write_some() {
    bool progress = write_deadline_ == SteadyTime::max();
    while (!output_.empty()) {
        if (!gate_()) return false;
        std::array<iovec, kGather> pieces;
        std::size_t count = 0;
        for (const Bytes& bytes : output_) {
            if (count == pieces.size()) break;
            const std::size_t skip = count == 0 ? written_of_first_ : 0;
            pieces[count++] = {const_cast<char*>(bytes->data()) + skip, bytes->size() - skip};
        }
        msghdr message{};
        message.msg_iov = pieces.data();
        message.msg_iovlen = count;
        const ssize_t size =
            sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) {
            if (progress) write_deadline_ = std::chrono::steady_clock::now() + kWriteProgress;
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        progress = true;
        output_size_ -= static_cast<std::size_t>(size);
        written_of_first_ += static_cast<std::size_t>(size);
        while (!output_.empty() && written_of_first_ >= output_.front()->size()) {
            written_of_first_ -= output_.front()->size();
            output_.pop_front();
        }
    }
    write_deadline_ = SteadyTime::max();
    return true;
}

asio::awaitable<void> Link::write_rest() {
    while (!closed_) {
        std::error_code error;
        co_await socket_.async_wait(Socket::wait_write, redirect_error(use_awaitable, error));
        const std::lock_guard guard(output_mutex_);
        if (error || closed_ || !write_some()) break;
        writing_ = !output_.empty();
        if (!writing_) {
            written_.cancel();
            if (finishing_) close_soon();
            co_return;
        }
    }
    close();
}

bool Link::writing() const {
    const std::lock_guard guard(output_mutex_);
    return writing_;
}

void Link::finish() {
    flush();
    {
        const std::lock_guard guard(output_mutex_);
        finishing_ = true;
        if (writing_) return;
    }
    close();
}

asio::awaitable<void> Link::flushed() {
    while (writing() && !closed_) {
        written_.expires_at(asio::steady_timer::time_point::max());
        std::error_code cancelled;
        co_await written_.async_wait(redirect_error(use_awaitable, cancelled));
    }
}

// The socket belongs to the I/O thread: other threads only ask it to close.
void Link::close_soon() {
    asio::post(executor(), [self = shared_from_this()] { self->close(); });
}

void Link::close() {
    {
        const std::lock_guard guard(output_mutex_);
        closed_ = true;
        std::error_code ignored;
        socket_.close(ignored);
        output_.clear();
        output_size_ = 0;
        written_of_first_ = 0;
        write_deadline_ = SteadyTime::max();
    }
    expect_until(std::nullopt);
    written_.cancel();
}

bool Link::expired(SteadyTime now) const {
    const std::lock_guard guard(output_mutex_);
    return now > read_deadline_.load() || now > write_deadline_;
}

Bytes framed(const google::protobuf::MessageLite& message) {
    std::string bytes;
    append_frame(bytes, message);
    return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace sluice
