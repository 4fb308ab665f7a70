#include "os/pty.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstdlib>

#include "os/error.h"

namespace sluice {

Result<Pty> open_pty(TerminalSize size) {
    Pty pty;
    pty.supervisor.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    char name[64];
    if (!pty.supervisor || grantpt(pty.supervisor.get()) != 0 ||
        unlockpt(pty.supervisor.get()) != 0 ||
        ptsname_r(pty.supervisor.get(), name, sizeof name) != 0) {
        return os_error("cannot open a pseudo terminal");
    }
    pty.task.reset(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!pty.task) return os_error(name);
    resize_pty(pty.supervisor, size);
    return pty;
}

void resize_pty(const Fd& supervisor, TerminalSize size) {
    winsize window{};
    window.ws_row = size.rows;
    window.ws_col = size.columns;
    ioctl(supervisor.get(), TIOCSWINSZ, &window);
}

}  // namespace sluice
