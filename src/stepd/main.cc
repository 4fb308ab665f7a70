// slurmstepd: started by slurmd, never by hand. With `enter`: see stepd/enter.h. Otherwise
// descriptor 3 is the line to slurmd, whose first frame is the order; descriptor 4, for a step, the
// connection to its srun.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "model/version.h"
#include "os/fd.h"
#include "protocol/frame.h"
#include "stepd/enter.h"
#include "stepd/supervisor.h"

namespace sluice {
namespace {

Result<wire::StepOrder> read_order(const Fd& line) {
    FrameReader reader(kFrameSizeMax * 2);
    char buffer[64 * 1024];
    for (;;) {
        if (auto frame = TRY(reader.next())) return decode<wire::StepOrder>(*frame);
        // Blocking, and no more than the order: the word to end the job may be right behind it.
        ssize_t count = read(line.get(), buffer, std::min(sizeof buffer, reader.missing()));
        if (count <= 0) return malformed_message();
        reader.feed({buffer, static_cast<std::size_t>(count)});
    }
}

int run() {
    std::signal(SIGPIPE, SIG_IGN);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
    umask(022);
    start_log({.program = "slurmstepd", .stderr_level = LogLevel::Error});
    Fd line(3);
    Result<wire::StepOrder> order = read_order(line);
    if (!order) {
        log_error("no order from slurmd; slurmstepd is not started by hand");
        return 1;
    }
    EventLoop loop;
    Fd srun(order->has_tasks() ? 4 : -1);
    clearenv();
    for (int fd : {3, 4}) fcntl(fd, F_SETFD, FD_CLOEXEC);
    Supervisor supervisor(loop, std::move(*order), std::move(line), std::move(srun));
    supervisor.run();
    return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "-V") {
        std::puts(sluice::kVersionLine.data());
        return 0;
    }
    if (argc > 1 && std::string_view(argv[1]) == "enter")
        return sluice::enter({argv + 2, argv + argc});
    return sluice::run();
}
