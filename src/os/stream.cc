#include "os/stream.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/check.h"

namespace sluice {

namespace {
constexpr std::size_t kReadSize = 64 * 1024;
}

Stream::Stream(EventLoop& loop, Fd fd, Handlers handlers)
    : loop_(loop), fd_(std::move(fd)), handlers_(std::move(handlers)) {
    CHECK(fd_);
    fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
    watch(events_);
}

void Stream::watch(std::uint32_t events) {
    loop_.watch(fd_.get(), events, [this](std::uint32_t happened) { on_events(happened); });
}

Stream::~Stream() {
    *alive_ = false;
    close_now(false);
}

void Stream::on_events(std::uint32_t events) {
    std::shared_ptr<bool> alive = alive_;
    if (events & EPOLLOUT) write_some();
    if (!*alive || closed()) return;
    if (reading_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) read_some();
}

void Stream::read_some() {
    char buffer[kReadSize];
    ssize_t count = read(fd_.get(), buffer, sizeof buffer);
    if (count > 0) {
        if (handlers_.on_data) handlers_.on_data({buffer, static_cast<std::size_t>(count)});
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_now(true);  // a pty whose last user is gone reports EIO
    }
}

void Stream::send(std::string_view bytes) {
    if (closed() || closing_ || broken_) return;
    if (backlog() == 0) {
        ssize_t count = write(fd_.get(), bytes.data(), bytes.size());
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    if (bytes.empty()) return;
    out_.append(bytes);
    update();
}

void Stream::write_some() {
    while (backlog() > 0) {
        ssize_t count = write(fd_.get(), out_.data() + out_start_, backlog());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) {
            broken_ = true;
            break;
        }
        out_start_ += static_cast<std::size_t>(count);
    }
    out_.clear();
    out_start_ = 0;
    // The peer takes no more, but what it sent before it left may still be unread.
    if (closing_ || (broken_ && !reading_)) return close_now(true);
    update();
    if (handlers_.on_drained) handlers_.on_drained();
}

void Stream::read_more(bool wanted) {
    reading_ = wanted;
    if (!closed()) update();
}

void Stream::close_after_drain() {
    closing_ = true;
    if (!closed() && backlog() == 0) close_now(false);
}

void Stream::update() {
    std::uint32_t wanted = (reading_ ? EPOLLIN : 0u) | (backlog() > 0 ? EPOLLOUT : 0u);
    if (wanted == events_) return;
    // Not watched at all while nothing is wanted: epoll would report a hang-up again and again,
    // and what is still in the pipe must not be lost.
    if (wanted == 0) {
        loop_.forget(fd_.get());
    } else if (events_ == 0) {
        watch(wanted);
    } else {
        loop_.change(fd_.get(), wanted);
    }
    events_ = wanted;
}

Fd Stream::release() {
    loop_.forget(fd_.get());
    return std::move(fd_);
}

void Stream::close_now(bool tell) {
    if (closed()) return;
    loop_.forget(fd_.get());
    fd_.reset();
    if (!tell) return;
    // The function may destroy this stream: nothing of it is touched afterwards.
    if (std::function<void()> on_close = std::move(handlers_.on_close)) on_close();
}

}  // namespace sluice
