// stage/report_line.h
//
// The line to slurmd. How far we are is reported regularly by a thread, which also notices when
// slurmd has ended: then the work is given up, as the next slurmd begins it again.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "os/fd.h"
#include "stage.pb.h"
#include "stage/fetch.h"

namespace sluice::stage {

class ReportLine {
public:
    explicit ReportLine(Fd fd) : fd_(std::move(fd)) {}
    ~ReportLine();

    // Once the process has its children.
    void start();
    void set_phase(std::string_view phase);
    Counters& counters() { return counters_; }
    void send(const wire::StageReport& report);
    const Fd& socket() const { return fd_; }

private:
    void watch();
    void send_progress();

    Fd fd_;
    std::mutex mutex_;  // of the line, and of the phase
    std::string phase_;
    Counters counters_;
    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

}  // namespace sluice::stage
