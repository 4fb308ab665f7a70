// sluice-pmix: started by slurmstepd for a step of srun --mpi=pmix, with the user's rights. Its
// standard input is the line to slurmstepd; it ends when that does.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "mpi/server.h"
#include "os/files.h"

namespace sluice {
namespace {

// Signals to the step are for its tasks.
void ignore_signals() {
    for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2,
                       SIGTSTP, SIGXCPU, SIGVTALRM, SIGPROF, SIGURG, SIGWINCH}) {
        std::signal(signal, SIG_IGN);
    }
}

std::string make_directory(const wire::RunId& run) {
    const char* parent = std::getenv("TMPDIR");
    std::string path =
        fmt::format("{}/pmix.{}.{}.XXXXXX", parent ? parent : "/tmp", run.job(), run.step());
    return mkdtemp(path.data()) ? path : std::string();
}

// A process that removes the directory when this one is gone, also if it is killed.
void remove_afterwards(const std::string& directory) {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) return;
    const pid_t child = fork();
    if (child != 0) {
        close(pair[0]);
        return;  // the other end stays open as long as this process is there
    }
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, pair[1]}) close(fd);
    char byte = 0;
    while (read(pair[0], &byte, 1) < 0) continue;
    remove_tree(directory);
    _exit(0);
}

int serve(Line& line, const wire::PmixSetup& setup, const std::string& directory) {
    Result<StepLayout> layout = StepLayout::from(setup);
    if (!layout) return line.fail(layout.error().detail), 1;
    PmixServer server(line, std::move(*layout), directory);
    Result<wire::PmixReady> ready = server.start();
    if (!ready) return line.fail(ready.error().detail), 1;
    wire::PmixReport report;
    *report.mutable_ready() = std::move(*ready);
    line.write(report);
    while (std::optional<wire::PmixOrder> order = line.read()) {
        if (order->has_input()) server.on_input(order->input());
    }
    return 0;
}

int run() {
    ignore_signals();
    Line line(STDIN_FILENO);
    std::optional<wire::PmixOrder> order = line.read();
    if (!order || !order->has_setup()) return 1;
    const std::string directory = make_directory(order->setup().run());
    if (directory.empty()) return line.fail("no directory for temporary files"), 1;
    remove_afterwards(directory);
    const int code = serve(line, order->setup(), directory);
    remove_tree(directory);
    // Without the end of the library: the tasks are gone, and it may wait for them.
    _exit(code);
}

}  // namespace
}  // namespace sluice

int main() {
    return sluice::run();
}
