// stepd/control.h
//
// The supervisor's line to slurmd: the inherited socket pair, and a socket in the job's directory
// where a restarted slurmd finds us again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "order.pb.h"
#include "os/stream.h"
#include "protocol/frame.h"

namespace sluice {

class Control {
public:
    using OnCommand = std::function<void(const wire::StepCommand&)>;

    Control(EventLoop& loop, const wire::StepOrder& order, Fd inherited, OnCommand on_command);

    void report(const wire::StepReport& report);
    bool drained() const;
    void remove_socket();

private:
    struct Line {
        std::unique_ptr<Stream> stream;
        FrameReader reader;
    };
    void add_line(Fd fd);
    void on_data(Line& line, std::string_view bytes);

    EventLoop& loop_;
    wire::StepState state_;
    OnCommand on_command_;
    std::string path_;
    Fd listener_;
    std::vector<std::unique_ptr<Line>> lines_;
};

// "<directory>/batch.0" for files of this run.
std::string run_path(const wire::StepOrder& order);

}  // namespace sluice
