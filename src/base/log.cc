#include "base/log.h"

#include <fcntl.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

#include <ctime>
#include <mutex>

namespace sluice {

namespace {

// The one piece of process-wide state: a log is where everybody writes.
struct Sink {
    std::mutex mutex;
    LogSetup setup;
    int file = -1;
};

Sink& sink() {
    static Sink instance;
    return instance;
}

LogLevel highest(const LogSetup& setup) {
    LogLevel level = std::max(setup.stderr_level, setup.syslog_level);
    return setup.file.empty() ? level : std::max(level, setup.file_level);
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
    sink().setup.file_level = level;
}

bool log_enabled(LogLevel level) {
    return level <= highest(sink().setup);
}

void write_log(LogLevel level, std::string_view line) {
    write_log(level, std::vector<std::string>{std::string(line)});
}

void write_log(LogLevel level, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    Sink& out = sink();
    std::lock_guard lock(out.mutex);
    if (out.file >= 0 && level <= out.setup.file_level) {
        write_all(out.file, prefixed(lines, fmt::format("{} {}", timestamp(), prefix_of(level))));
    }
    if (level <= out.setup.stderr_level) {
        write_all(STDERR_FILENO,
                  prefixed(lines, fmt::format("{}: {}", out.setup.program, prefix_of(level))));
    }
    if (level > out.setup.syslog_level) return;
    for (const std::string& line : lines) {
        syslog(syslog_priority(level), "%s%s", prefix_of(level), line.c_str());
    }
}

}  // namespace sluice
