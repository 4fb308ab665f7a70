#include "stage/report_line.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>

#include "stage/channel.h"

namespace sluice::stage {

namespace {
constexpr int kInterval = 500;  // milliseconds between two reports
constexpr int kGlance = 20;     // and between two looks whether the work is over
}  // namespace

ReportLine::~ReportLine() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
}

void ReportLine::start() {
    thread_ = std::thread([this] { watch(); });
}

void ReportLine::set_phase(std::string_view phase) {
    {
        const std::lock_guard guard(mutex_);
        phase_ = phase;
    }
    send_progress();
}

void ReportLine::send(const wire::StageReport& report) {
    const std::lock_guard guard(mutex_);
    (void)send_frame(fd_.get(), report);
}

void ReportLine::send_progress() {
    wire::StageReport report;
    wire::StageProgress& progress = *report.mutable_progress();
    progress.set_bytes_done(counters_.done);
    progress.set_bytes_total(counters_.total);
    progress.set_bytes_read(counters_.read);
    {
        const std::lock_guard guard(mutex_);
        progress.set_phase(phase_);
    }
    send(report);
}

void ReportLine::watch() {
    pollfd line{fd_.get(), POLLIN, 0};
    for (int passed = 0; !is_over_; passed += kGlance) {
        if (poll(&line, 1, kGlance) > 0)
            kill(-getpid(), SIGKILL);  // slurmd has ended; we lead a session
        if (passed < kInterval) continue;
        send_progress();
        passed = 0;
    }
}

}  // namespace sluice::stage
