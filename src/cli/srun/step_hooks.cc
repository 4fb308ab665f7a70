#include "cli/srun/step_hooks.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/common/job_variables.h"
#include "os/event_loop.h"
#include "os/process.h"

namespace sluice {

namespace {

std::vector<std::string> variables_of(const StepHook& hook, const StepFacts& facts,
                                      const Invocation& invocation) {
    Environment environment = invocation.environment;
    set_job_variables(environment, facts.step.job());
    const std::string step = fmt::format("{}", facts.step.step());
    environment.set("SLURM_STEP_ID", step);
    environment.set("SLURM_STEPID", step);
    environment.set("SLURM_SCRIPT_CONTEXT", fmt::format("{}_srun", hook.kind));
    return environment.entries();
}

// Signals of the terminal reach it directly; SIGTERM and SIGHUP of srun are forwarded to it.
int wait_for_exit(pid_t pid) {
    EventLoop loop;
    int status = 0;
    loop.on_signals({SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT}, [&](int number) {
        if (number == SIGTERM || number == SIGHUP) kill(pid, number);
        if (waitpid(pid, &status, WNOHANG) == pid) loop.stop();
    });
    // It may have ended before the signal handler was installed.
    if (waitpid(pid, &status, WNOHANG) != pid) loop.run();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_step_hook(const StepHook& hook, const StepFacts& facts, const Invocation& invocation,
                  Streams& streams) {
    if (hook.program.empty()) return 0;
    // Compat: that is no reason not to run the step.
    if (access(hook.program.c_str(), X_OK) != 0) {
        const char* why = std::strerror(errno);
        print_info(streams, invocation, fmt::format("Access denied for {}: {}", hook.program, why));
        return 0;
    }
    ProcessSpec spec;
    spec.program = hook.program;
    spec.argv = {hook.program};
    spec.argv.insert(spec.argv.end(), facts.command.begin(), facts.command.end());
    spec.environment = variables_of(hook, facts, invocation);
    spec.in = STDIN_FILENO;
    spec.out = STDOUT_FILENO;
    spec.err = STDERR_FILENO;
    streams.flush();
    Result<pid_t> pid = spawn(spec);
    if (!pid) {
        print_error(streams, invocation, fmt::format("{}: {}", hook.program, pid.error().detail));
        return 1;
    }
    return wait_for_exit(*pid);
}

}  // namespace sluice
