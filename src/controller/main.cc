// controller/main.cc
//
// slurmctld: command line, start of the controller, and signals.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/log.h"
#include "base/text.h"
#include "controller/controller.h"
#include "controller/options.h"
#include "controller/reconfigure.h"
#include "controller/shared_service.h"
#include "model/errors.h"
#include "model/state_location.h"
#include "model/version.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/self.h"
#include "os/socket.h"

namespace sluice {
namespace {

constexpr int kNiceByDefault = -10;

Error about_start(std::string detail) {
    return Error{ErrorCode::SystemError, std::move(detail)};
}

LogLevel level_of(const Options& options, LogLevel configured) {
    if (options.verbose == 0) return configured;
    const int asked = static_cast<int>(LogLevel::Info) + options.verbose;
    return std::max(configured,
                    static_cast<LogLevel>(std::min(asked, static_cast<int>(LogLevel::Debug5))));
}

// In the foreground the log also goes to standard error. In the background only fatal errors do;
// without a log file the rest goes to syslog.
void open_log(const Options& options, const Config& config, const std::string& file) {
    const LogLevel level = level_of(options, config.slurmctld_debug);
    LogSetup setup{.program = "slurmctld", .file = file, .file_level = level};
    setup.stderr_level = options.foreground && !options.quiet ? level : LogLevel::Fatal;
    setup.syslog_level =
        file.empty() && !options.foreground ? level : config.slurmctld_syslog_debug;
    start_log(setup);
}

// A second controller beside the one that the nodes know would start the same jobs again.
Result<void> check_host(const Config& config, const Options& options) {
    if (is_shared_state(config.state_save_location)) {
        if (options.clear_state || options.ignore_state_errors) {
            return about_start(fmt::format("-{}: not with a state that controllers may share ({})",
                                           options.clear_state ? 'c' : 'i',
                                           without_password(config.state_save_location)));
        }
        TRY(own_controller(config));
        return {};
    }
    const ControllerHost& host = config.controllers.front();
    if (is_own_host(host.name)) return {};
    return about_start(
        fmt::format("this host ({}) is not the controller: {} names SlurmctldHost={}", host_name(),
                    config.path, host.name));
}

Result<User> user_to_run_as(const LiveConfig& live) {
    const auto user = find_user(live.slurm_user.value);
    if (!user) return about_start("SlurmUser has gone");
    if (geteuid() != 0 && geteuid() != user->uid) {
        return about_start(
            fmt::format("slurmctld must be run as root or as SlurmUser ({}), not as "
                        "uid {}",
                        user->name, geteuid()));
    }
    return *user;
}

void change_directory(const Config& config, const std::string& log_file) {
    if (log_file.starts_with('/') && chdir(directory_of(log_file).c_str()) == 0) return;
    if (chdir(config.state_save_location.c_str()) == 0) return;
    if (chdir("/var/tmp") != 0) log_error("cannot change to a directory of our own");
}

// Taken by wait_for_signals() in the main thread; blocked before any thread is created.
sigset_t block_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    for (int number : {SIGPIPE, SIGTSTP, SIGXCPU, SIGQUIT, SIGALRM}) {
        signal(number, SIG_IGN);
    }
    return set;
}

void wait_for_signals(const sigset_t& set, Controller& controller) {
    while (true) {
        int number = 0;
        if (sigwait(&set, &number) != 0) continue;
        if (number == SIGHUP) {
            controller.reconfigure();
        } else if (number == SIGUSR2) {
            reopen_log();
        } else if (number != SIGUSR1) {  // that one is for controllers with backups
            log_info("stopping on signal {}", number);
            return;
        }
    }
}

Result<void> run(const Options& options) {
    if (!options.foreground) close_inherited();
    const std::string ended = SharedService::previous_end();
    const char* slurm_conf = std::getenv("SLURM_CONF");
    // Absolute: it is read again on SIGHUP, possibly from another working directory.
    const std::string path = std::filesystem::absolute(
        config_path(options.config, slurm_conf ? slurm_conf : "", own_program_path()));
    const auto live = TRY(load_live_config(path));
    const Config& config = live->config;
    TRY(check_host(config, options));
    const std::string log_file =
        options.log_file.empty() ? config.slurmctld_log_file : options.log_file;
    const User user = TRY(user_to_run_as(*live));

    Background background;
    if (!options.foreground && ended.empty()) background.enter();
    // All commands wait for the controller: on its host it has a higher priority than they have.
    if (options.nice)
        TRY(set_nice(*options.nice));
    else
        (void)set_nice(kNiceByDefault);  // only root may; otherwise it stays unchanged
    set_session_nice(options.nice.value_or(kNiceByDefault));
    raise_file_limit(kFilesWanted);
    PidFile pid_file = TRY(PidFile::create(config.slurmctld_pid_file));
    make_for(user, config.slurmctld_pid_file, Made::File);
    make_for(user, log_file, Made::File);
    const bool is_shared = is_shared_state(config.state_save_location);
    if (!is_shared) make_for(user, config.state_save_location, Made::Directory);
    TRY(become(user));
    open_log(options, config, log_file);
    if (options.change_directory) change_directory(config, log_file);
    for (const std::string& warning : config.warnings) log_info("warning: {}", warning);

    const sigset_t signals = block_signals();
    if (is_shared) {
        return SharedService::run(live, {.config_path = path,
                                         .arguments = options.arguments,
                                         .previous_end = ended,
                                         .signals = signals,
                                         .ready = [&background] {
                                             background.serving();
                                             notify_systemd("READY=1");
                                         }});
    }
    std::atomic<bool> fenced{false};
    auto controller =
        TRY(Controller::start(live, {.clear_state = options.clear_state,
                                     .ignore_state_errors = options.ignore_state_errors,
                                     .on_fenced = [&fenced] {
                                         fenced = true;
                                         kill(getpid(), SIGTERM);  // ends wait_for_signals()
                                     }}));
    log_info("slurmctld version {} serves cluster {} on port {}", kSlurmVersion,
             config.cluster_name, config.slurmctld_port);
    background.serving();
    notify_systemd("READY=1");
    wait_for_signals(signals, *controller);
    notify_systemd("STOPPING=1");
    controller->stop();
    pid_file.remove();
    if (fenced) return about_start("another controller has taken over the state");
    log_info("stopped");
    return {};
}

int main_of(int argc, char** argv) {
    const auto options = parse_options(argc, argv);
    if (!options) {
        fmt::print(stderr, "slurmctld: {}\n{}", options.error().detail, usage());
        return 1;
    }
    if (options->help) return std::fputs(usage().c_str(), stdout) < 0;
    if (options->version) return std::puts(kVersionLine.data()) < 0;
    start_log({.program = "slurmctld"});
    const auto done = run(*options);
    if (done) return 0;
    const std::string& detail = done.error().detail;
    const std::string text = detail.empty() ? to_string(done.error()) : detail;
    for (std::string_view line : split(text, '\n')) log(LogLevel::Fatal, "{}", line);
    return 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    return sluice::main_of(argc, argv);
}
