#include "base/log.h"

#include <fcntl.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <mutex>

#include "base/audit_log.h"
#include "base/log_copy.h"

namespace sluice {

namespace {

// The only process-wide state: all parts of a process write to one log.
struct Sink {
    std::mutex mutex;
    LogSetup setup;
    int file = -1;
    std::atomic<LogLevel> file_level{LogLevel::Info};  // setup's, until it is changed
    std::atomic<LogLevel> highest{LogLevel::Info};     // of all levels that are written anywhere
    std::function<void(const std::string&)> copy;
    LogLevel copy_level = LogLevel::Quiet;
    bool is_copying = false;
    std::uint32_t noise = 0;  // lines of this second
    std::chrono::steady_clock::time_point noise_since{};
};

Sink& sink() {
    static Sink instance;
    return instance;
}

LogLevel highest(const Sink& out) {
    const LogSetup& setup = out.setup;
    const LogLevel level = std::max({setup.stderr_level, setup.syslog_level, out.copy_level});
    return setup.file.empty() ? level : std::max(level, out.file_level.load());
}

const char* prefix_of(LogLevel level) {
    switch (level) {
        case LogLevel::Fatal:
            return "fatal: ";
        case LogLevel::Error:
            return "error: ";
        case LogLevel::Debug:
            return "debug:  ";
        case LogLevel::Debug2:
            return "debug2: ";
        case LogLevel::Debug3:
            return "debug3: ";
        default:
            return "";
    }
}

int syslog_priority(LogLevel level) {
    if (level <= LogLevel::Fatal) return LOG_CRIT;
    if (level == LogLevel::Error) return LOG_ERR;
    return level <= LogLevel::Verbose ? LOG_INFO : LOG_DEBUG;
}

std::string timestamp() {
    timeval now{};
    gettimeofday(&now, nullptr);
    tm local{};
    localtime_r(&now.tv_sec, &local);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
    return fmt::format("[{}.{:03}]", text, now.tv_usec / 1000);
}

// How many bytes the character at the start of `text` has; 0: it is not one to be printed.
std::size_t printable_size(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    const std::size_t size = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
    if (size == 0 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const bool is_control = first == 0xc2 && byte(1) < 0xa0;
    const bool ends_line = text.starts_with("\xe2\x80\xa8") || text.starts_with("\xe2\x80\xa9");
    return is_control || ends_line ? 0 : size;
}

std::string prefixed(const std::vector<std::string>& lines, const std::string& prefix) {
    std::string text;
    for (const std::string& line : lines) text.append(prefix).append(line).append("\n");
    return text;
}

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        ssize_t written = write(fd, text.data(), text.size());
        if (written <= 0) return;  // a full disk must not stop the daemon
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

int open_file(const std::string& path) {
    return path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
}

}  // namespace

void start_log(const LogSetup& setup) {
    Sink& out = sink();
    std::lock_guard lock(out.mutex);
    if (out.file >= 0) close(out.file);
    out.setup = setup;
    out.file_level = setup.file_level;
    out.highest = highest(out);
    out.file = open_file(setup.file);
    if (setup.syslog_level != LogLevel::Quiet)
        openlog(out.setup.program.c_str(), LOG_PID, LOG_DAEMON);
}

void reopen_log() {
    Sink& out = sink();
    std::lock_guard lock(out.mutex);
    if (out.file >= 0) close(out.file);
    out.file = open_file(out.setup.file);
}

void set_log_level(LogLevel level) {
    Sink& out = sink();
    std::lock_guard lock(out.mutex);
    out.file_level = level;
    out.highest = highest(out);
}

void copy_log(LogLevel level, std::function<void(const std::string&)> read) {
    Sink& out = sink();
    std::lock_guard lock(out.mutex);
    out.copy_level = read ? level : LogLevel::Quiet;
    out.copy = std::move(read);
    out.highest = highest(out);
}

bool log_enabled(LogLevel level) {
    return level <= sink().highest.load(std::memory_order_relaxed);
}

std::string escaped_log_line(std::string_view line) {
    const bool is_plain = std::all_of(line.begin(), line.end(),
                                      [](char letter) { return letter >= ' ' && letter <= '~'; });
    if (is_plain && line.size() <= kLogLineMost) return std::string(line);
    std::string out;
    const std::size_t cut = line.size() > kLogLineMost ? line.size() - kLogLineMost : 0;
    line.remove_suffix(cut);
    while (!line.empty()) {
        const std::size_t size = printable_size(line);
        if (size > 0)
            out.append(line.substr(0, size));
        else
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(line.front()));
        line.remove_prefix(std::max<std::size_t>(size, 1));
    }
    if (cut > 0) out += fmt::format("... ({} more bytes)", cut);
    return out;
}

void write_noise(LogLevel level, std::string_view line) {
    {
        Sink& out = sink();
        std::lock_guard lock(out.mutex);
        if (++out.noise > kNoiseLinesPerSecond) return;
    }
    write_log(level, line);
}

void end_noise_second() {
    std::uint32_t more = 0;
    {
        Sink& out = sink();
        std::lock_guard lock(out.mutex);
        const auto now = std::chrono::steady_clock::now();
        if (now - out.noise_since < std::chrono::milliseconds(900)) return;  // another thread did
        more = out.noise > kNoiseLinesPerSecond ? out.noise - kNoiseLinesPerSecond : 0;
        out.noise = 0;
        out.noise_since = now;
    }
    if (more > 0) log_info("{} more lines about refused connections in the last second", more);
}

void write_log(LogLevel level, std::string_view line) {
    write_log(level, std::vector<std::string>{std::string(line)});
}

namespace {

std::vector<std::string> escaped(const std::vector<std::string>& raw_lines) {
    std::vector<std::string> lines;
    for (const std::string& line : raw_lines) lines.push_back(escaped_log_line(line));
    return lines;
}

struct Destinations {
    bool file, standard_error, syslog;
};

// With the lock held.
void write_lines(const Sink& out, Destinations to, LogLevel level,
                 const std::vector<std::string>& lines) {
    if (to.file) {
        write_all(out.file, prefixed(lines, fmt::format("{} {}", timestamp(), prefix_of(level))));
    }
    if (to.standard_error) {
        write_all(STDERR_FILENO,
                  prefixed(lines, fmt::format("{}: {}", out.setup.program, prefix_of(level))));
    }
    if (!to.syslog) return;
    for (const std::string& line : lines) {
        syslog(syslog_priority(level), "%s%s", prefix_of(level), line.c_str());
    }
}

// Without the lock: the reader may log.
void copy_lines(LogLevel level, const std::vector<std::string>& lines) {
    Sink& out = sink();
    std::function<void(const std::string&)> read;
    {
        std::lock_guard lock(out.mutex);
        if (level > out.copy_level || !out.copy || out.is_copying) return;
        out.is_copying = true;
        read = out.copy;
    }
    for (const std::string& line : lines) read(prefix_of(level) + line);
    std::lock_guard lock(out.mutex);
    out.is_copying = false;
}

}  // namespace

void write_log(LogLevel level, const std::vector<std::string>& raw_lines) {
    if (raw_lines.empty()) return;
    const std::vector<std::string> lines = escaped(raw_lines);
    {
        Sink& out = sink();
        std::lock_guard lock(out.mutex);
        write_lines(out,
                    {.file = out.file >= 0 && level <= out.file_level,
                     .standard_error = level <= out.setup.stderr_level,
                     .syslog = level <= out.setup.syslog_level},
                    level, lines);
    }
    copy_lines(level, lines);
}

// Standard error is used for more than fatal errors in the foreground only.
void write_audit(const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    Sink& out = sink();
    std::lock_guard lock(out.mutex);
    const bool has_file = out.file >= 0, in_foreground = out.setup.stderr_level > LogLevel::Fatal;
    write_lines(
        out,
        {.file = has_file,
         .standard_error = in_foreground,
         .syslog = out.setup.syslog_level > LogLevel::Fatal || (!has_file && !in_foreground)},
        LogLevel::Info, escaped(lines));
}

}  // namespace sluice
