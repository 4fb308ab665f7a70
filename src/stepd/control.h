// stepd/control.h
//
// The supervisor's line to slurmd: the inherited socket pair, and a socket by which a restarted
// slurmd finds us again, as the mark in the job's directory says (order.proto).
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

    void report(const wire::StepReport& report);  // of the end: also to a slurmd that comes later
    bool connected() const;
    bool drained() const;
    Result<void> write_into_mark(const std::string& content);
    bool has_mark() const;  // false: slurmd has removed it
    // A slurmd that was restarted in the meantime does not know this run: it must not start.
    bool is_forbidden() const { return is_forbidden_; }

private:
    struct Line {
        std::unique_ptr<Stream> stream;
        FrameReader reader;
    };
    Result<void> listen(const wire::StepOrder& order);
    void accept();
    void add_line(Fd fd);
    void on_data(Line& line, std::string_view bytes);

    EventLoop& loop_;
    wire::StepState state_;
    OnCommand on_command_;
    std::string mark_;
    bool is_forbidden_ = false;
    std::string ending_;  // the frames that report it
    Fd listener_;
    std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace sluice
