#include "cli/srun/async_step.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/srun/step_files.h"
#include "model/errors.h"
#include "os/error.h"

namespace sluice {

namespace {

// The terminal, and pipes that a reader waits to be closed, are not for the background.
Result<void> leave_streams(const Fd& messages) {
    const Fd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return os_error("/dev/null");
    const bool is_done = dup2(nothing.get(), STDIN_FILENO) >= 0 &&
                         dup2(nothing.get(), STDOUT_FILENO) >= 0 &&
                         dup2(messages.get(), STDERR_FILENO) >= 0;
    if (!is_done) return os_error("dup2");
    return {};
}

}  // namespace

Result<void> complete_async(JobOptions& options) {
    if (!options.async) return {};
    if (options.job_id.empty()) {
        return Error{
            ErrorCode::NotSupported,
            "--async is only valid for steps submitted within an existing job allocation."};
    }
    if (options.pty || !options.x11.empty()) {
        return Error{
            ErrorCode::BadArgument,
            fmt::format("--async and --{} exclude each other: nothing is left of srun that "
                        "could carry the data",
                        options.pty ? "pty" : "x11")};
    }
    JobRequest& request = options.request;
    if (request.std_out.empty()) request.std_out = "slurm-%J.out";
    if (request.std_in.empty()) request.std_in = "none";
    return {};
}

std::optional<int> go_to_background(const JobOptions& options, const wire::StepCreated& step,
                                    const Invocation& invocation, Streams& streams) {
    const auto refuse = [&](const Error& error) {
        print_error(streams, invocation, error.detail);
        return exit_code_for_error(invocation);
    };
    Result<Fd> messages = open_message_file(options, step);
    if (!messages) return refuse(messages.error());
    streams.flush();
    const pid_t child = fork();
    if (child < 0) return refuse(os_error("fork"));
    if (child == 0) {
        setsid();
        if (!leave_streams(*messages)) _exit(1);
        return {};
    }
    const std::string name = fmt::format("{}.{}", step.job().job(), step.step());
    if (options.parsable) {
        streams.out(name + "\n");
    } else if (!options.quiet) {
        streams.out(fmt::format("Submitted step {}\n", name));
    }
    return 0;
}

}  // namespace sluice
