#include "controller/job_programs.h"

#include <algorithm>
#include <csignal>
#include <limits>

#include "base/log.h"
#include "controller/job_variables.h"
#include "os/process.h"

namespace sluice {
namespace {

constexpr std::size_t kProgramsAtOnce = 64;
constexpr auto kProgramsLookAgain = std::chrono::milliseconds(20);
// As many as there are jobs: a prolog that is lost would leave its job waiting.
constexpr std::size_t kProgramsMost = std::numeric_limits<std::uint32_t>::max();

const char* key_name(const RunJobProgram& order) {
    return order.prolog ? "PrologSlurmctld" : "EpilogSlurmctld";
}

}  // namespace

JobPrograms::JobPrograms(const PublishedState& published, Inbox& inbox)
    : published_(published), inbox_(inbox), queue_(kProgramsMost), thread_([this] { run(); }) {}

JobPrograms::~JobPrograms() {
    stopping_ = true;
    queue_.close();
    thread_.join();
}

void JobPrograms::take(RunJobProgram order) {
    (void)queue_.try_push(std::move(order));
}

void JobPrograms::run() {
    while (!stopping_) {
        const bool is_idle = running_.empty() && waiting_.empty();
        auto orders = is_idle
                          ? queue_.take(kProgramsAtOnce)
                          : queue_.take_until(kProgramsAtOnce, std::chrono::steady_clock::now() +
                                                                   kProgramsLookAgain);
        std::move(orders.begin(), orders.end(), std::back_inserter(waiting_));
        if (stopping_) return;
        look_at_running();
        start_waiting();
    }
}

bool JobPrograms::is_running(JobId job) const {
    return std::any_of(running_.begin(), running_.end(),
                       [&](const Running& each) { return each.order.job->id == job; });
}

// The epilog of one run of a job ends before the prolog of the next one starts.
void JobPrograms::start_waiting() {
    for (auto next = waiting_.begin();
         next != waiting_.end() && running_.size() < kProgramsAtOnce;) {
        if (is_running(next->job->id)) {
            ++next;
            continue;
        }
        RunJobProgram order = std::move(*next);
        next = waiting_.erase(next);
        start(std::move(order));
    }
}

void JobPrograms::start(RunJobProgram order) {
    const auto live = published_.config.get();
    const Config& config = live->config;
    const std::string& program = order.prolog ? config.prolog_slurmctld : config.epilog_slurmctld;
    if (program.empty()) return report(order, false);  // taken out of slurm.conf meanwhile
    Variables variables = variables_of(*order.job, find_user(order.job->user.value), config);
    add_variable(variables, "SLURM_SCRIPT_CONTEXT",
                 order.prolog ? "prolog_slurmctld" : "epilog_slurmctld");
    add_variable(variables, "SLURM_WCKEY", order.job->request->wckey);
    if (!order.prolog) add_exit_codes(*order.job, variables);
    const auto pid = spawn_quiet({program}, variables);
    if (!pid) {
        log_error("{}: {}", key_name(order), pid.error().detail);
        return report(order, true);
    }
    const Seconds limit = order.prolog ? config.prolog_timeout : config.epilog_timeout;
    std::optional<Moment> deadline;
    if (limit > Seconds{0}) deadline = std::chrono::steady_clock::now() + limit;
    running_.push_back({std::move(order), program, *pid, deadline});
}

void JobPrograms::look_at_running() {
    std::erase_if(running_, [&](Running& each) {
        const auto status = wait_for_exit(each.pid, std::chrono::milliseconds(0));
        if (!status) {
            if (each.deadline && std::chrono::steady_clock::now() >= *each.deadline) {
                log_error("{}: {} of job {} is killed, it took too long", key_name(each.order),
                          each.program, each.order.job->id.value);
                kill(-each.pid, SIGKILL);  // it leads a session
                each.deadline.reset();
            }
            return false;
        }
        if (*status != 0) {
            log_error("{}: {} of job {} failed, wait status {}", key_name(each.order), each.program,
                      each.order.job->id.value, *status);
        }
        report(each.order, *status != 0);
        return true;
    });
}

// The failure of an epilog is only logged.
void JobPrograms::report(const RunJobProgram& order, bool failed) {
    if (!order.prolog) return;
    const RunId run{order.job->id, order.job->run.restarts, kBatchStep};
    inbox_.push({.event = JobProgramEnded{run, failed}});
}

}  // namespace sluice
