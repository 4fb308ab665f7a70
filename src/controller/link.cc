// controller/link.cc
#include "controller/link.h"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <vector>

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
    while (!closed()) {
        const auto message = reader_.next();
        if (!message) {
            log_debug("{}: {}", peer_, to_string(message.error()));
            break;
        }
        if (*message) co_return **message;

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

void Link::send(Bytes message) {
    send_with_next(std::move(message));
    flush();
}

void Link::send_with_next(Bytes message) {
    if (closed()) return;
    output_size_ += message->size();
    output_.push_back(std::move(message));
    if (output_size_ > kOutputMost) {
        log_error("{}: does not read what it asked for, closed", peer_);
        close();
    }
}

void Link::flush() {
    if (writing_ || closed() || output_.empty()) return;
    writing_ = true;
    // Started by way of the executor: answers that come together leave together.
    asio::co_spawn(
        executor(), [self = shared_from_this()] { return self->write_all(); }, asio::detached);
}

asio::awaitable<void> Link::write_all() {
    std::size_t offset = 0;  // of the first message, what has left already
    while (!output_.empty() && !closed()) {
        std::vector<asio::const_buffer> buffers;
        for (const Bytes& bytes : output_) {
            if (buffers.size() == kGather) break;
            const std::size_t skip = buffers.empty() ? offset : 0;
            buffers.emplace_back(bytes->data() + skip, bytes->size() - skip);
        }
        write_deadline_ = std::chrono::steady_clock::now() + kWriteProgress;
        std::error_code error;
        std::size_t size =
            co_await socket_.async_write_some(buffers, redirect_error(use_awaitable, error));
        if (error) {
            close();
            break;
        }
        output_size_ -= size;
        offset += size;
        while (!output_.empty() && offset >= output_.front()->size()) {
            offset -= output_.front()->size();
            output_.pop_front();
        }
    }
    write_deadline_.reset();
    writing_ = false;
    written_.cancel();
    if (finishing_) close();
}

void Link::finish() {
    finishing_ = true;
    flush();
    if (!writing_) close();
}

asio::awaitable<void> Link::flushed() {
    while (writing_ && !closed()) {
        written_.expires_at(asio::steady_timer::time_point::max());
        std::error_code cancelled;
        co_await written_.async_wait(redirect_error(use_awaitable, cancelled));
    }
}

void Link::close() {
    std::error_code ignored;
    socket_.close(ignored);
    output_.clear();
    output_size_ = 0;
    read_deadline_.reset();
    written_.cancel();
}

bool Link::expired(SteadyTime now) const {
    return (read_deadline_ && now > *read_deadline_) || (write_deadline_ && now > *write_deadline_);
}

}  // namespace sluice
