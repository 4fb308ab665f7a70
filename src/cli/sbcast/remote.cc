#include "cli/sbcast/remote.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/sbcast/cast_stream.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

std::string here(const Invocation& invocation) {
    return std::string(invocation.environment.find("SLURMD_NODENAME").value_or("?"));
}

// So that read() returns and the files that are not complete are removed.
void end_on(int signal_number) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(signal_number, &action, nullptr);
}

Result<void> receive_all(const std::string& node, Streams& streams) {
    CastReader reader(node);
    std::string buffer(256u << 10, '\0');
    while (!reader.is_committed()) {
        const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count < 0) return os_error("the transfer was ended");
        if (count == 0) return Error{ErrorCode::LaunchFailed, "the transfer ended early"};
        const auto say_ready = [&] {
            streams.out(fmt::format("{}\n", kFilesAreHere));
            streams.flush();
        };
        TRY(reader.feed({buffer.data(), static_cast<std::size_t>(count)}, say_ready));
    }
    return {};
}

}  // namespace

int receive_files(const Invocation& invocation, Streams& streams) {
    for (int number : {SIGTERM, SIGINT, SIGHUP}) end_on(number);
    const Result<void> received = receive_all(here(invocation), streams);
    if (received) return 0;
    // Compat: the name of Slurm's request, which scripts look for.
    print_error(
        streams, invocation,
        fmt::format("REQUEST_FILE_BCAST({}): {}", here(invocation), received.error().detail));
    return 1;
}

int send_file(const Invocation& invocation, Streams& streams) {
    const std::vector<std::string>& args = invocation.args;
    CastSource source;
    CastTransport transport;
    if (args.size() < 4 || !to_number(args[2])) return 1;
    source.path = args[1];
    transport.block = std::min<std::size_t>(*to_number(args[2]), kCastBlockMax);
    transport.compress = args[3] == "lz4";
    signal(SIGPIPE, SIG_IGN);
    Result<void> sent = describe_original(source);
    if (sent) sent = write_files({source}, transport, STDOUT_FILENO);
    if (sent) return 0;
    print_error(streams, invocation,
                fmt::format("node {}: {}", here(invocation), sent.error().detail));
    return 1;
}

std::string remote_program() {
    return directory_of(own_program_path()) + "/sbcast";
}

}  // namespace sluice
