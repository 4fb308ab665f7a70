#include "stepd/control.h"

#include <fmt/format.h>

#include "base/log.h"
#include "model/job_id.h"
#include "os/socket.h"

namespace sluice {

std::string run_path(const wire::StepOrder& order) {
    return fmt::format("{}/{}.{}", order.directory(), print_step(StepId{order.run().step()}),
                       order.run().restarts());
}

Control::Control(EventLoop& loop, const wire::StepOrder& order, Fd inherited, OnCommand on_command)
    : loop_(loop), on_command_(std::move(on_command)), path_(run_path(order) + ".sock") {
    *state_.mutable_run() = order.run();
    state_.set_user(order.user());
    state_.set_group(order.group());
    state_.set_batch(order.has_batch());
    add_line(std::move(inherited));
    Result<Fd> listener = listen_at(path_);
    if (!listener) {
        log_error("a restarted slurmd will not find this step: {}", listener.error().detail);
        return;
    }
    listener_ = std::move(*listener);
    loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) {
        Fd fd = accept_connection(listener_);
        std::optional<Peer> peer = fd ? peer_of(fd) : std::nullopt;
        if (!peer || (peer->uid != 0 && peer->uid != geteuid())) return;
        add_line(std::move(fd));
        wire::StepReport report;
        *report.mutable_state() = state_;
        std::string frame;
        append_frame(frame, report);
        lines_.back()->stream->send(frame);
    });
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
    std::string frame;
    append_frame(frame, report);
    for (auto& line : lines_) line->stream->send(frame);
}

bool Control::drained() const {
    for (const auto& line : lines_) {
        if (!line->stream->closed() && line->stream->backlog() > 0) return false;
    }
    return true;
}

void Control::remove_socket() {
    if (listener_) unlink(path_.c_str());
}

}  // namespace sluice
