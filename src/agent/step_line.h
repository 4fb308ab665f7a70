// agent/step_line.h
//
// Our end of the line to one slurmstepd, whether we have just started it or found it again.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "agent/run_key.h"
#include "base/result.h"
#include "order.pb.h"
#include "os/stream.h"
#include "protocol/frame.h"

namespace sluice {

class StepLine {
public:
    struct Handlers {
        std::function<void(const wire::StepReport&)> on_report;
        std::function<void()> on_gone;  // the process has ended, or never was
    };

    // Starts the program with its order; `srun` is the connection it takes over, if any.
    static Result<std::unique_ptr<StepLine>> start(EventLoop& loop, const std::string& program,
                                                   const wire::StepOrder& order, Fd srun,
                                                   Handlers handlers);
    // Finds one that an earlier slurmd had started; `place` as its order said.
    static Result<std::unique_ptr<StepLine>> find(EventLoop& loop, const std::string& place,
                                                  Handlers handlers);

    void send(const wire::StepCommand& command);
    // Of the supervisor; nothing once it is gone: the number may be that of another process.
    std::optional<pid_t> pid() const;

private:
    StepLine(EventLoop& loop, Fd fd, pid_t pid, Handlers handlers);
    void on_data(std::string_view bytes);

    pid_t pid_;
    Handlers handlers_;
    FrameReader reader_;
    std::unique_ptr<Stream> stream_;
};

}  // namespace sluice
