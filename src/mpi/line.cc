#include "mpi/line.h"

#include <unistd.h>

#include "os/files.h"

namespace sluice {

std::optional<wire::PmixOrder> Line::read() {
    char buffer[64 * 1024];
    for (;;) {
        Result<std::optional<std::string_view>> frame = reader_.next();
        if (!frame) return {};
        if (*frame) {
            Result<wire::PmixOrder> order = decode<wire::PmixOrder>(**frame);
            if (!order) return {};
            return std::move(*order);
        }
        const ssize_t count = ::read(fd_, buffer, sizeof buffer);
        if (count <= 0) return {};
        reader_.feed({buffer, static_cast<std::size_t>(count)});
    }
}

void Line::write(const wire::PmixReport& report) {
    std::string frame;
    append_frame(frame, report);
    const std::lock_guard lock(writing_);
    write_all(fd_, frame);  // where it fails, read() sees the end too
}

void Line::write(const wire::StepOutput& output) {
    wire::PmixReport report;
    *report.mutable_output() = output;
    write(report);
}

void Line::fail(const std::string& why) {
    wire::PmixReport report;
    report.set_failure(why);
    write(report);
}

}  // namespace sluice
