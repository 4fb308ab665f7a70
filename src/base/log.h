// base/log.h
//
// One line per event, to a file, syslog or standard error. Levels are those of Slurm. The sink is
// set once, before threads start; writing and changing the level are thread-safe. A line can
// contain data of users: control characters and invalid UTF-8 are escaped, and a long line is
// truncated.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

enum class LogLevel { Quiet, Fatal, Error, Info, Verbose, Debug, Debug2, Debug3, Debug4, Debug5 };

struct LogSetup {
    std::string program;  // "slurmctld": the syslog identity and the stderr prefix
    std::string file;     // empty: no file
    LogLevel file_level = LogLevel::Info;
    LogLevel stderr_level = LogLevel::Info;  // Quiet once in the background
    LogLevel syslog_level = LogLevel::Quiet;
};

void start_log(const LogSetup& setup);
void reopen_log();  // after rotation: SIGUSR2
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void write_log(LogLevel level, std::string_view line);
void write_log(LogLevel level, const std::vector<std::string>& lines);  // at one go

// A line as it is written: "a\x0ab" for a line feed between a and b.
inline constexpr std::size_t kLogLineMost = 8192;  // bytes of the text
std::string escaped_log_line(std::string_view line);

// For lines that peers can cause without authentication: so many a second are written, the others
// are counted and reported by end_noise_second().
inline constexpr std::uint32_t kNoiseLinesPerSecond = 10;
void write_noise(LogLevel level, std::string_view line);
void end_noise_second();  // called about once a second

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (log_enabled(level)) write_log(level, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_noise(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (log_enabled(level)) write_noise(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::Error, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::Info, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::Debug, format, std::forward<Args>(args)...);
}

}  // namespace sluice
