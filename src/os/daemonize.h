// os/daemonize.h
//
// Starts a daemon in the background. The parent returns 0 when the child has reported that it is
// ready, and 1 if the child died before.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace sluice {

// Before anything is opened: of the descriptors we were started with, only 0, 1 and 2 are ours. A
// pipe of the shell that started us would otherwise stay open as long as we run.
void close_inherited();

class Background {
public:
    // Forks; only the child returns. Standard input, output and error stay until serving().
    void enter();
    // Lets the parent go, and standard input and output go to /dev/null.
    void serving();

private:
    Fd ready_;
};

// Held by the daemon while it lives: a second one with the same file gets an error naming its pid.
class PidFile {
public:
    static Result<PidFile> create(const std::string& path);
    PidFile() = default;
    PidFile(PidFile&&) = default;
    PidFile& operator=(PidFile&&) = default;
    ~PidFile() { remove(); }  // also after a start that came to nothing
    void remove();

private:
    std::string path_;
    Fd file_;
};

// systemd's protocol: "READY=1", "STOPPING=1". Nothing without $NOTIFY_SOCKET.
void notify_systemd(std::string_view state);

}  // namespace sluice
