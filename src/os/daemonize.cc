#include "os/daemonize.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "base/check.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

// The parent: one byte says that the child serves, the end of the pipe that it has died.
[[noreturn]] void wait_for(pid_t child, const Fd& pipe) {
    char byte = 0;
    ssize_t count = 0;
    do {
        count = read(pipe.get(), &byte, 1);
    } while (count < 0 && errno == EINTR);
    if (count == 1) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1);
}

}  // namespace

void close_inherited() {
    closefrom(STDERR_FILENO + 1);
}

void Background::enter() {
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    Fd reader(ends[0]);
    ready_.reset(ends[1]);
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child > 0) {
        ready_.reset();
        wait_for(child, reader);
    }
    setsid();
}

void Background::serving() {
    if (!ready_) return;
    Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null.get(), fd);
    write_all(ready_.get(), "1");
    ready_.reset();
}

Result<PidFile> PidFile::create(const std::string& path) {
    PidFile result;
    result.path_ = path;
    // SlurmUser may own the directory, and must not be able to make root write through a link.
    result.file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!result.file_) return os_error(fmt::format("cannot write pid file {}", path));
    if (flock(result.file_.get(), LOCK_EX | LOCK_NB) != 0) {
        result.file_.reset();  // it is the other's
        Result<std::string> pid = read_file(path);
        return Error{ErrorCode{}, fmt::format("already running as pid {} ({} is locked)",
                                              pid ? pid->substr(0, pid->find('\n')) : "?", path)};
    }
    if (ftruncate(result.file_.get(), 0) != 0 ||
        !write_all(result.file_.get(), fmt::format("{}\n", getpid()))) {
        return os_error(fmt::format("cannot write pid file {}", path));
    }
    return result;
}

void PidFile::remove() {
    // A daemon that is no longer root cannot remove a file from /run: an empty one names no
    // process.
    if (file_ && unlink(path_.c_str()) != 0) (void)!ftruncate(file_.get(), 0);
    file_.reset();
}

void notify_systemd(std::string_view state) {
    const char* path = std::getenv("NOTIFY_SOCKET");
    if (!path || (path[0] != '/' && path[0] != '@')) return;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::string_view text = path;
    if (text.size() >= sizeof name.sun_path) return;
    std::copy(text.begin(), text.end(), name.sun_path);
    if (path[0] == '@') name.sun_path[0] = 0;
    Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size());
    if (fd) {
        sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&name), length);
    }
}

}  // namespace sluice
