#include "cli/sdata/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "data/usage.h"

namespace sluice {

namespace {

constexpr int kBar = 24;
constexpr auto kShowAgain = std::chrono::milliseconds(200);

}  // namespace

std::string progress_text(const data::Progress& progress, std::chrono::duration<double> elapsed) {
    const std::uint64_t done = progress.bytes, all = progress.bytes_total;
    if (all == 0) return "looking at the files";
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
    const double rate =
        static_cast<double>(done - std::min<std::uint64_t>(done, progress.bytes_kept)) /
        std::max(0.001, elapsed.count());
    std::string text = fmt::format("{:3.0f}% [{:<{}}] {} of {}, {}/s", part * 100,
                                   std::string(static_cast<std::size_t>(part * kBar), '#'), kBar,
                                   data::print_size(done), data::print_size(all),
                                   data::print_size(static_cast<std::uint64_t>(rate)));
    if (rate >= 1 && done < all) {
        const auto left = static_cast<std::uint64_t>(static_cast<double>(all - done) / rate);
        text += fmt::format(", {}:{:02}:{:02} left", left / 3600, left / 60 % 60, left % 60);
    }
    return text;
}

ProgressLine::ProgressLine(data::Progress& progress) : progress_(progress) {
    if (isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { show_until_stopped(); });
}

ProgressLine::~ProgressLine() {
    {
        const std::lock_guard guard(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void ProgressLine::show_until_stopped() {
    constexpr const char* kClear = "\r\033[K";
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kShowAgain, [&] { return stopping_; })) {
        const auto elapsed = std::chrono::steady_clock::now() - began_;
        std::fputs((kClear + progress_text(progress_, elapsed)).c_str(), stderr);
        std::fflush(stderr);
    }
    std::fputs(kClear, stderr);
}

}  // namespace sluice
