#include "agent/step_line.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/log.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/process.h"
#include "os/socket.h"
#include "protocol/step_mark.h"

namespace sluice {

Result<std::unique_ptr<StepLine>> StepLine::start(EventLoop& loop, const std::string& program,
                                                  const wire::StepOrder& order, Fd srun,
                                                  Handlers handlers) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return Error{ErrorCode::NodeUnable, os_error("socketpair").detail};
    }
    Fd ours(pair[0]), theirs(pair[1]);
    std::vector<int> fds = {theirs.get()};
    if (srun) fds.push_back(srun.get());
    std::string title = fmt::format("slurmstepd: [{}]", print_run(key_of(order.run())));
    const pid_t pid = TRY(as(ErrorCode::NodeUnable, spawn_helper(program, {title}, fds)));
    std::unique_ptr<StepLine> line(new StepLine(loop, std::move(ours), pid, std::move(handlers)));
    std::string frame;
    append_frame(frame, order);
    line->stream_->send(frame);
    return line;
}

Result<std::unique_ptr<StepLine>> StepLine::find(EventLoop& loop, const std::string& place,
                                                 Handlers handlers) {
    Fd fd = TRY(connect_as(step_socket(place)));
    const std::optional<Peer> peer = peer_of(fd);
    if (!peer || !is_one_of_us(peer->uid)) {
        return Error{ErrorCode::AccessDenied, "somebody else listens there"};
    }
    return std::unique_ptr<StepLine>(
        new StepLine(loop, std::move(fd), peer->pid, std::move(handlers)));
}

StepLine::StepLine(EventLoop& loop, Fd fd, pid_t pid, Handlers handlers)
    : pid_(pid), handlers_(std::move(handlers)) {
    stream_ = std::make_unique<Stream>(
        loop, std::move(fd),
        Stream::Handlers{[this](std::string_view bytes) { on_data(bytes); },
                         [this] { handlers_.on_gone(); },
                         {}});
}

void StepLine::send(const wire::StepCommand& command) {
    std::string frame;
    append_frame(frame, command);
    stream_->send(frame);
}

std::optional<pid_t> StepLine::pid() const {
    if (stream_->closed()) return {};
    return pid_;
}

void StepLine::on_data(std::string_view bytes) {
    reader_.feed(bytes);
    for (;;) {
        auto frame = reader_.next();
        if (!frame || !*frame) return;
        if (Result<wire::StepReport> report = decode<wire::StepReport>(**frame)) {
            handlers_.on_report(*report);
        }
    }
}

}  // namespace sluice
