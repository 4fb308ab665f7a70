// controller/trigger_programs.cc: see trigger_programs.h.
#include "controller/trigger_programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "os/process.h"
#include "os/user.h"

namespace sluice {
namespace {

constexpr std::size_t kWaitingMost = 100'000;
constexpr std::size_t kProgramsAtOnce = 64;
constexpr auto kLookAgain = std::chrono::milliseconds(20);
constexpr auto kTimeMost = std::chrono::minutes(5);
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::vector<std::string> environment_for(const User& user, const Config& config) {
    return {fmt::format("PATH={}", kPath),
            fmt::format("USER={}", user.name),
            fmt::format("LOGNAME={}", user.name),
            fmt::format("HOME={}", user.home),
            fmt::format("SHELL={}", user.shell),
            fmt::format("SLURM_CONF={}", config.path),
            fmt::format("SLURM_CLUSTER_NAME={}", config.cluster_name)};
}

}  // namespace

std::vector<std::string> trigger_arguments(const RunTrigger& order) {
    std::vector<std::string> argv;
    for (const std::string_view word : words(order.trigger.wanted.program)) argv.emplace_back(word);
    argv.push_back(order.subject);
    return argv;
}

TriggerPrograms::TriggerPrograms(const PublishedState& published)
    : published_(published), queue_(kWaitingMost), thread_([this] { run(); }) {}

TriggerPrograms::~TriggerPrograms() {
    stopping_ = true;
    queue_.close();
    thread_.join();
}

void TriggerPrograms::take(RunTrigger order) {
    const std::uint32_t id = order.trigger.id;
    if (!queue_.offer(order)) log_error("trigger {}: not run, {} others wait", id, kWaitingMost);
}

void TriggerPrograms::run() {
    while (!stopping_) {
        const std::size_t most = kProgramsAtOnce - std::min(running_.size(), kProgramsAtOnce);
        std::vector<RunTrigger> orders;
        if (running_.empty()) {
            orders = queue_.take(kProgramsAtOnce);
        } else if (most > 0) {
            orders = queue_.take_until(most, std::chrono::steady_clock::now() + kLookAgain);
        } else {
            std::this_thread::sleep_for(kLookAgain);
        }
        if (stopping_) return;
        look_at_running();
        for (const RunTrigger& order : orders) start(order);
    }
}

void TriggerPrograms::start(const RunTrigger& order) {
    const Trigger& trigger = order.trigger;
    const auto found = find_user_with_groups(trigger.user.value, trigger.group.value);
    if (!found || !*found)
        return log_error("trigger {}: not run, uid {} is unknown", trigger.id, trigger.user.value);
    const User& user = **found;
    if (geteuid() != 0 && user.uid != geteuid())
        return log_error("trigger {}: not run, slurmctld cannot become uid {}", trigger.id,
                         user.uid);
    const auto live = published_.config.get();
    const std::vector<std::string> argv = trigger_arguments(order);
    const auto pid = spawn({.program = argv.front(),
                            .argv = argv,
                            .environment = environment_for(user, live->config),
                            .directory = "/",
                            .user = &user,
                            .err = STDERR_FILENO,
                            .new_session = true});
    if (!pid) return log_error("trigger {}: {}", trigger.id, pid.error().detail);
    log_info("trigger {}: {} {} as uid {}", trigger.id, trigger.wanted.program, order.subject,
             user.uid);
    running_.push_back(
        {trigger.id, argv.front(), *pid, std::chrono::steady_clock::now() + kTimeMost});
}

void TriggerPrograms::look_at_running() {
    std::erase_if(running_, [&](Running& each) {
        const auto status = wait_for_exit(each.pid, std::chrono::milliseconds(0));
        if (!status) {
            if (std::chrono::steady_clock::now() < each.deadline) return false;
            log_error("trigger {}: {} is killed, it took longer than {} minutes", each.trigger,
                      each.program, kTimeMost.count());
            kill(-each.pid, SIGKILL);  // it leads a session
            each.deadline += kTimeMost;
            return false;
        }
        if (*status != 0)
            log_error("trigger {}: {} failed, wait status {}", each.trigger, each.program, *status);
        return true;
    });
}

}  // namespace sluice
