#include "cli/salloc/salloc.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/common/allocate.h"
#include "cli/common/host_file.h"
#include "cli/common/job_setup.h"
#include "cli/common/job_variables.h"
#include "cli/common/verbose.h"
#include "model/errors.h"
#include "model/states.h"
#include "os/files.h"
#include "os/user.h"

namespace sluice {

namespace {

constexpr AllocationTexts kTexts{.failed = "Job submit/allocate failed",
                                 .says_pending = true,
                                 .revoked_end = ".",
                                 .on_signal = "Job aborted due to signal"};

constexpr int kAskAgain = 2000;  // milliseconds after a refusal

Result<JobOptions> read_options(const Arguments& arguments, const Invocation& invocation) {
    const Time now = current_time();
    JobOptions options;
    const Environment ours = invocation.environment.starting_with('S');  // SLURM_, SBATCH_ ...
    auto find = [&](std::string_view name) { return ours.find(name); };
    TRY(apply_environment(options, find, kSalloc, now));
    TRY(apply_options(options, arguments.options, Source::CommandLine, kSalloc, now));
    TRY(complete_arbitrary(options, invocation.environment));
    TRY(complete_options(options, kSalloc));
    options.request.kind = options.no_shell ? JobKind::Interactive : JobKind::Salloc;
    if (options.request.name.empty()) options.request.name = "interactive";
    return options;
}

std::string user_shell() {
    std::optional<User> user = find_user(getuid());
    return user && !user->shell.empty() ? user->shell : "/bin/sh";
}

// As options of srun.
std::vector<std::string> container_arguments(const JobOptions& options) {
    const std::string& bundle = options.request.container;
    if (options.request.container_setup.empty()) {
        return bundle.empty() ? std::vector<std::string>{}
                              : std::vector<std::string>{"--container=" + bundle};
    }
    std::vector<std::string> arguments;
    const ContainerSetup& image = options.image;
    for (const auto& [name, value] :
         {std::pair{"image", image.image}, std::pair{"name", image.name},
          std::pair{"mounts", image.mounts}, std::pair{"workdir", image.workdir},
          std::pair{"env", image.environment}}) {
        if (!value.empty()) arguments.push_back(fmt::format("--container-{}={}", name, value));
    }
    if (image.mount_home) arguments.emplace_back("--container-mount-home");
    if (image.writable) arguments.emplace_back("--container-writable");
    if (image.entrypoint) arguments.emplace_back("--container-entrypoint");
    return arguments;
}

// A container is on the first node of the job, and so is what runs in it.
std::vector<std::string> command_in_container(const std::vector<std::string>& operands,
                                              const std::vector<std::string>& arguments) {
    std::vector<std::string> command{directory_of(own_program_path()) + "/srun", "--interactive",
                                     "--preserve-env"};
    if (isatty(STDIN_FILENO)) command.emplace_back("--pty");
    command.insert(command.end(), arguments.begin(), arguments.end());
    if (operands.empty()) command.emplace_back("/bin/sh");
    command.insert(command.end(), operands.begin(), operands.end());
    return command;
}

// Without a command: the user's shell here, or in a step on the first node of the job. sh puts the
// value of $SHELL into InteractiveStepOptions.
std::vector<std::string> command_or_shell(const std::vector<std::string>& operands,
                                          const Environment& environment, const Config& config) {
    if (!operands.empty()) return operands;
    if (config.has_flag(config.launch_parameters, "use_interactive_step")) {
        return {"/bin/sh", "-c", "exec \"$0\" " + config.interactive_step_options,
                directory_of(own_program_path()) + "/srun"};
    }
    return {std::string(*environment.find("SHELL"))};
}

// The command in the foreground of our terminal, with every signal as it was before us.
pid_t spawn(std::vector<std::string> command, const Environment& environment) {
    std::vector<char*> argv, entries;
    std::vector<std::string> texts = environment.entries();
    for (std::string& word : command) argv.push_back(word.data());
    for (std::string& text : texts) entries.push_back(text.data());
    argv.push_back(nullptr);
    entries.push_back(nullptr);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = -1;
    int failure = posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), entries.data());
    posix_spawnattr_destroy(&attributes);
    return failure ? -1 : pid;
}

// Watches the command and the job: when one of them ends, the other is ended or signalled.
class CommandRun {
public:
    CommandRun(std::uint32_t job, const JobOptions& options, const Invocation& invocation,
               Client& client, Streams& streams)
        : job_(job),
          options_(options),
          invocation_(invocation),
          client_(client),
          streams_(streams) {
        sigset_t set;
        sigemptyset(&set);
        for (int signal : {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP})
            sigaddset(&set, signal);
        sigprocmask(SIG_BLOCK, &set, nullptr);
        signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
        CHECK(signals_);
    }

    bool job_ended() const { return job_ended_; }
    const wire::ExitStatus& exit() const { return exit_; }  // the command's

    int run(const std::vector<std::string>& command, const Environment& environment) {
        pid_ = spawn(command, environment);
        if (pid_ < 0) {
            print_error(streams_, invocation_,
                        fmt::format("_fork_command: Unable to find command \"{}\"", command[0]));
            exit_.set_code(1);
            return 1;
        }
        wire::Request request;
        request.mutable_wait_job()->set_job(job_);
        request.mutable_wait_job()->set_until(wire::WaitJob::ENDED);
        Waiting waiting{.wake_fd = signals_.get()};
        while (!exit_code_) {
            if (job_ended_) {
                await_signal(-1);
                continue;
            }
            Result<wire::Reply> reply = client_.call(request, waiting);
            if (reply) {
                on_job_ended(reply->allocation().state());
            } else if (reply.error().code == ErrorCode::InvalidJobId) {
                on_job_ended(static_cast<std::uint32_t>(JobState::Cancelled));  // long ago
            } else {
                // The controller ends a job that it does not hear of. The command goes on without
                // it too.
                const bool is_signal = reply.error().code == ErrorCode::None;
                await_signal(is_signal ? 0 : kAskAgain);
            }
        }
        return *exit_code_;
    }

private:
    void on_job_ended(std::uint32_t state) {
        job_ended_ = true;
        const bool timed_out = state == static_cast<std::uint32_t>(JobState::Timeout);
        print_info(
            streams_, invocation_,
            timed_out
                ? fmt::format(
                      "Job {} has exceeded its time limit and its allocation has been revoked.",
                      job_)
                : fmt::format("Job allocation {} has been revoked.", job_));
        if (options_.kill_command) kill(pid_, *options_.kill_command);
    }

    void await_signal(int milliseconds) {
        pollfd entry{signals_.get(), POLLIN, 0};
        poll(&entry, 1, milliseconds);
        take_signals();
    }

    void take_signals() {
        signalfd_siginfo info{};
        while (read(signals_.get(), &info, sizeof info) == sizeof info) {
            // The terminal sends INT, QUIT and TSTP to the command itself.
            if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
                kill(pid_, static_cast<int>(info.ssi_signo));
            }
        }
        collect();
    }

    void collect() {
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) != pid_) return;
        if (WIFSIGNALED(status)) {
            exit_.set_signal(static_cast<std::uint32_t>(WTERMSIG(status)));
            exit_code_ = 128 + WTERMSIG(status);
        } else {
            exit_.set_code(static_cast<std::uint32_t>(WEXITSTATUS(status)));
            exit_code_ = WEXITSTATUS(status);
        }
    }

    std::uint32_t job_;
    const JobOptions& options_;
    const Invocation& invocation_;
    Client& client_;
    Streams& streams_;
    Fd signals_;
    pid_t pid_ = -1;
    bool job_ended_ = false;
    std::optional<int> exit_code_;
    wire::ExitStatus exit_;
};

int run_command(const wire::JobAllocation& allocation, const JobOptions& options,
                const std::vector<std::string>& operands, const Invocation& invocation,
                const Config& config, Client& client, Streams& streams) {
    const std::uint32_t job = allocation.job();
    Environment environment = invocation.environment;
    forget_own_binding(environment);
    set_job_variables(environment, allocation);
    if (!environment.find("SHELL")) environment.set("SHELL", user_shell());
    environment.set("SLURM_SUBMIT_DIR", invocation.directory);
    set_distribution_variables(environment, options.distribution);
    if (!options.hint.empty()) environment.set("SLURM_HINT", options.hint);
    if (!options.x11.empty()) environment.set("SLURM_X11", options.x11);
    if (!options.cpu_freq.empty()) environment.set("SLURM_CPU_FREQ_REQ", options.cpu_freq);
    set_memory_binding_variables(environment, "SLURM_MEM_BIND", options.mem_bind);
    streams.flush();
    if (!options.request.work_dir.empty() && chdir(options.request.work_dir.c_str()) != 0) {
        print_error(streams, invocation,
                    fmt::format("Unable to change to directory {}", options.request.work_dir));
    }
    CommandRun command(job, options, invocation, client, streams);
    const std::vector<std::string> container = container_arguments(options);
    int code = command.run(container.empty() ? command_or_shell(operands, environment, config)
                                             : command_in_container(operands, container),
                           environment);
    if (command.job_ended()) return code;
    if (!options.quiet) {
        print_info(streams, invocation, fmt::format("Relinquishing job allocation {}", job));
    }
    give_back(job, command.exit(), client);
    return code;
}

}  // namespace

int run_salloc(const Invocation& invocation, Client& client, Streams& streams) {
    Result<Arguments> arguments = parse_job_arguments(kSalloc, invocation.args);
    if (!arguments) return refuse_options(arguments.error(), kTexts.failed, invocation, streams);
    if (Result<void> ok = refuse_components(*arguments, kSalloc); !ok) {
        return refuse_options(ok.error(), kTexts.failed, invocation, streams);
    }
    print_hints(*arguments, invocation, streams);
    JobOptions command_line;
    Result<void> applied = apply_options(command_line, arguments->options, Source::CommandLine,
                                         kSalloc, current_time());
    if (!applied) return refuse_options(applied.error(), kTexts.failed, invocation, streams);
    std::optional<int> told =
        print_help_if_asked(command_line, kSalloc, invocation, client, streams);
    if (told) return *told;
    Result<JobOptions> read = read_options(*arguments, invocation);
    if (!read) return refuse_options(read.error(), kTexts.failed, invocation, streams);
    JobOptions& options = *read;
    told = list_gres_if_asked(options, invocation, client, streams);
    if (told) return *told;
    Result<const Config*> config = client.config();
    if (!config) {
        print_fatal(streams, invocation, config.error().detail);
        return exit_code_for_error(invocation);
    }
    if (Result<void> ok = describe_submission(options, invocation, **config); !ok) {
        return refuse_options(ok.error(), kTexts.failed, invocation, streams);
    }
    print_defined_options(options, invocation, streams);
    print_warnings(options, invocation, streams);
    SignalWatch signals;
    Allocated allocated = allocate_job(options, kTexts, invocation, client, streams, signals);
    if (!allocated.ok) return allocated.exit_code;
    const wire::JobAllocation& allocation = allocated.allocation;
    if (!options.quiet) {
        print_info(streams, invocation, fmt::format("Granted job allocation {}", allocation.job()));
        print_info(streams, invocation,
                   fmt::format("Nodes {} are ready for job", allocation.node_names()));
    }
    if (options.bell && !options.no_bell && streams.out_is_terminal()) streams.err("\a");
    if (options.no_shell) return 0;
    return run_command(allocation, options, arguments->operands, invocation, **config, client,
                       streams);
}

}  // namespace sluice
