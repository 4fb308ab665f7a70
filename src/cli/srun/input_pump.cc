#include "cli/srun/input_pump.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {

namespace {

bool is_pollable(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return false;
    return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(fd);
}

}  // namespace

InputPump::InputPump(EventLoop& loop, Fd file, std::function<void(std::string_view)> on_data)
    : loop_(loop), file_(std::move(file)), on_data_(std::move(on_data)) {
    is_pollable_ = is_pollable(fd());
    resume();
}

InputPump::~InputPump() {
    pause();
}

int InputPump::fd() const {
    return file_ ? file_.get() : STDIN_FILENO;
}

void InputPump::pause() {
    if (running_ && is_pollable_) loop_.forget(fd());
    running_ = false;
}

void InputPump::resume() {
    if (running_ || ended_) return;
    running_ = true;
    if (is_pollable_) {
        loop_.watch(fd(), EPOLLIN, [this](std::uint32_t) { read_some(); });
    } else {
        loop_.after(std::chrono::milliseconds{0}, [this] { read_some(); });
    }
}

void InputPump::read_some() {
    if (!running_) return;
    char buffer[65536];
    ssize_t size = read(fd(), buffer, sizeof buffer);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) size = -2;
    if (size > 0) on_data_({buffer, static_cast<std::size_t>(size)});
    if (size == 0 || size == -1) {
        pause();
        ended_ = true;
        on_data_({});
    } else if (running_ && !is_pollable_) {
        loop_.after(std::chrono::milliseconds{0}, [this] { read_some(); });
    }
}

}  // namespace sluice
