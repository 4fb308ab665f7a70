#include "stepd/control.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/log.h"
#include "os/error.h"
#include "os/files.h"
#include "os/socket.h"
#include "protocol/step_mark.h"

namespace sluice {

namespace {

// A link costs no inode. Where there is none to be had, a file does as well.
Result<void> make_mark(const std::string& path, const std::string& original) {
    if (link(original.c_str(), path.c_str()) == 0) return {};
    return write_file_atomically(path, "", {.mode = 0600});
}

std::string frame_of(const wire::StepReport& report) {
    std::string frame;
    append_frame(frame, report);
    return frame;
}

}  // namespace

Control::Control(EventLoop& loop, const wire::StepOrder& order, Fd inherited, OnCommand on_command)
    : loop_(loop), on_command_(std::move(on_command)), mark_(order.mark()) {
    *state_.mutable_run() = order.run();
    state_.set_user(order.user());
    state_.set_group(order.group());
    state_.set_batch(order.has_batch());
    add_line(std::move(inherited));
    if (Result<void> listening = listen(order); !listening) {
        log_error("{}: {}",
                  is_forbidden_ ? "slurmd was restarted and does not know this step: not started"
                                : "a restarted slurmd will not find this step",
                  listening.error().detail);
    }
}

Result<void> Control::listen(const wire::StepOrder& order) {
    listener_ = TRY(listen_as(step_socket(order.place())));
    loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
    if (order.pending().empty())
        return make_mark(mark_, mark_original(directory_of(order.directory())));
    if (std::rename(order.pending().c_str(), mark_.c_str()) == 0) return {};
    is_forbidden_ = errno == ENOENT;
    return os_error(order.pending());
}

void Control::accept() {
    Fd fd = accept_connection(listener_);
    std::optional<Peer> peer = fd ? peer_of(fd) : std::nullopt;
    if (!peer || !is_one_of_us(peer->uid)) return;
    add_line(std::move(fd));
    wire::StepReport report;
    *report.mutable_state() = state_;
    lines_.back()->stream->send(frame_of(report) + ending_);
}

void Control::add_line(Fd fd) {
    auto line = std::make_unique<Line>();
    Line* self = line.get();
    line->stream = std::make_unique<Stream>(
        loop_, std::move(fd),
        Stream::Handlers{[this, self](std::string_view bytes) { on_data(*self, bytes); },
                         [] {},  // slurmd is gone; it comes back by itself
                         [] {}});
    lines_.push_back(std::move(line));
}

void Control::on_data(Line& line, std::string_view bytes) {
    line.reader.feed(bytes);
    for (;;) {
        auto frame = line.reader.next();
        if (!frame || !*frame) return;
        Result<wire::StepCommand> command = decode<wire::StepCommand>(**frame);
        if (command) on_command_(*command);
    }
}

void Control::report(const wire::StepReport& report) {
    const std::string frame = frame_of(report);
    if (report.has_end() || report.has_killing()) ending_ += frame;
    for (auto& line : lines_) line->stream->send(frame);
}

bool Control::connected() const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [](const auto& line) { return !line->stream->closed(); });
}

bool Control::drained() const {
    for (const auto& line : lines_) {
        if (!line->stream->closed() && line->stream->backlog() > 0) return false;
    }
    return true;
}

bool Control::has_mark() const {
    return access(mark_.c_str(), F_OK) == 0;
}

Result<void> Control::write_into_mark(const std::string& content) {
    return write_file_atomically(mark_, content, {.mode = 0600});
}

}  // namespace sluice
