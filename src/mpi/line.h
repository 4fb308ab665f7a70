// mpi/line.h
//
// The connection to slurmstepd: orders are read by one thread, reports are written by any.
#pragma once

#include <mutex>
#include <optional>

#include "nodes.pb.h"
#include "protocol/frame.h"

namespace sluice {

class Line {
public:
    explicit Line(int fd) : fd_(fd) {}
    std::optional<wire::PmixOrder> read();  // nothing at its end
    void write(const wire::PmixReport& report);
    void write(const wire::StepOutput& output);
    void fail(const std::string& why);

private:
    int fd_;
    FrameReader reader_;
    std::mutex writing_;
};

}  // namespace sluice
