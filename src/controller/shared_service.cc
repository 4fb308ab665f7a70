#include "controller/shared_service.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/log.h"
#include "controller/reconfigure.h"
#include "model/errors.h"
#include "os/daemonize.h"
#include "os/process.h"

namespace sluice {
namespace {

constexpr const char* kPreviousEnd = "SLUICE_CONTROLLER_ENDED";
constexpr auto kLook = std::chrono::milliseconds(100);
constexpr auto kAfterFailure = std::chrono::seconds(1);  // of a takeover, as the database has gone

void wake_main_thread() {
    kill(getpid(), SIGUSR1);
}

}  // namespace

int next_signal(const sigset_t& signals, std::chrono::milliseconds most) {
    const auto seconds = std::chrono::floor<Seconds>(most);
    const timespec limit{.tv_sec = seconds.count(),
                         .tv_nsec = std::chrono::nanoseconds(most - seconds).count()};
    const int number = sigtimedwait(&signals, nullptr, &limit);
    return number > 0 ? number : 0;
}

std::string SharedService::previous_end() {
    const char* value = std::getenv(kPreviousEnd);
    std::string why = value ? value : "";
    unsetenv(kPreviousEnd);
    return why;
}

Result<void> SharedService::run(std::shared_ptr<const LiveConfig> live, const Start& start) {
    SharedService service(std::move(live), start);
    if (!TRY(service.stand_by())) return {};
    return service.act();
}

// Programs do not hold up a takeover: they are started, and not waited for.
void SharedService::run_site_program(const std::string& program) {
    if (program.empty()) return;
    log_info("running {}", program);
    const auto pid = spawn_quiet(
        {program}, {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF=" + start_.config_path});
    if (!pid) log_error("{}", pid.error().detail);
}

void SharedService::reload() {
    auto next = load_live_config(start_.config_path);
    if (!next) return log_error("slurm.conf was not taken over: {}", to_string(next.error()));
    live_ = *std::move(next);
    set_log_level(live_->config.slurmctld_debug);
    contender_->replace_config(live_);
    log_info("slurm.conf was read again");
}

// True when this controller has the lease, false when it is told to stop.
Result<bool> SharedService::stand_by() {
    contender_ = TRY(Contender::start(live_, wake_main_thread));
    log_info("controller {} is in standby", contender_->keeper().own_name());
    start_.ready();
    if (!start_.previous_end.empty()) {
        log_info("it was the active one before: {}", start_.previous_end);
        run_site_program(live_->config.slurmctld_primary_off_prog);
    }
    while (contender_->keeper().epoch() == 0) {
        TRY(check_state());
        switch (next_signal(start_.signals, kLook)) {
            case SIGTERM:
            case SIGINT:
                log_info("stopping");
                notify_systemd("STOPPING=1");
                return false;
            case SIGHUP:
                reload();
                break;
            case SIGUSR2:
                reopen_log();
                break;
            default:
                while (waitpid(-1, nullptr, WNOHANG) > 0) continue;  // of the process before
        }
    }
    return true;
}

// A program that is started by an administrator ends, if it is too old for the state. One that was
// in use when the state was migrated stays in standby, where a ping shows why.
Result<void> SharedService::check_state() const {
    const LeaseKeeper::View view = contender_->keeper().view();
    if (!view.is_newer || view.was_usable || !start_.previous_end.empty()) return {};
    return Error{ErrorCode::StoreFailed, view.trouble};
}

Result<void> SharedService::act() {
    LeaseKeeper& keeper = contender_->keeper();
    reload();  // as the file is now, like any start
    Result<Takeover> takeover = contender_->take_over();
    if (!takeover) start_anew(to_string(takeover.error()));
    auto started = Controller::start(live_, {.on_fenced =
                                                 [this] {
                                                     fenced_ = true;
                                                     wake_main_thread();
                                                 },
                                             .takeover = *std::move(takeover)});
    if (!started) {
        keeper.stop(true);  // another controller may be able to
        std::this_thread::sleep_for(kAfterFailure);
        start_anew(to_string(started.error()));
    }
    controller_ = *std::move(started);
    log_info("controller {} is active", keeper.own_name());
    run_site_program(live_->config.slurmctld_primary_on_prog);
    while (true) {
        const int number = next_signal(start_.signals, kLook);
        if (const std::string why = reason_to_stop(); !why.empty()) start_anew(why);
        if (number == SIGHUP) controller_->reconfigure();
        if (number == SIGUSR2) reopen_log();
        const std::string successor = keeper.successor();
        const bool is_told_to_stop = number == SIGTERM || number == SIGINT;
        if (!is_told_to_stop && successor.empty()) continue;
        if (is_told_to_stop) notify_systemd("STOPPING=1");
        log_info("stopping{}", is_told_to_stop ? "" : ": " + successor + " takes over");
        controller_->stop();  // the last commit
        keeper.stop(true);
        if (!is_told_to_stop) start_anew(successor + " takes over");
        run_site_program(live_->config.slurmctld_primary_off_prog);
        log_info("stopped");
        return {};
    }
}

std::string SharedService::reason_to_stop() {
    if (fenced_) return "another controller has taken over the state";
    if (contender_->keeper().is_lost()) return "the lease was not renewed in time";
    return "";
}

// What this process has decided since its last commit is dropped, and no thread of it goes on.
void SharedService::start_anew(const std::string& why) {
    log_error("this controller is active no more: {}", why);
    setenv(kPreviousEnd, why.c_str(), 1);
    std::vector<std::string> arguments = start_.arguments;
    arguments.front() = program_;
    const Error failure = replace_program(arguments);
    log_error("cannot start anew: {}", failure.detail);
    _exit(EXIT_FAILURE);
}

}  // namespace sluice
