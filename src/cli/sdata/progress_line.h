// cli/sdata/progress_line.h
//
// Shows how far a long command is: at a terminal a bar that is drawn again, elsewhere nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "data/pack.h"

namespace sluice {

// "  42% [########            ] 1.2G of 2.9G, 210.3M/s, 0:08 left"
std::string progress_text(const data::Progress& progress, std::chrono::duration<double> elapsed);

class ProgressLine {
public:
    explicit ProgressLine(data::Progress& progress);
    ~ProgressLine();  // removes the line
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

private:
    void show_until_stopped();

    data::Progress& progress_;
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace sluice
