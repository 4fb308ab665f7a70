#include "controller/mailer.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

#include "base/log.h"
#include "controller/job_variables.h"
#include "model/times.h"
#include "os/process.h"

namespace sluice {
namespace {

constexpr std::size_t kWaitingMost = 4096;
constexpr auto kTimeMost = std::chrono::seconds(60);  // for one mail
constexpr auto kStopCheckWait = std::chrono::milliseconds(100);
void add_ending(const SendMail& mail, Variables& variables) {
    if (mail.type != MailType::End && mail.type != MailType::Fail) return;
    add_exit_codes(*mail.job, variables);
    add_variable(variables, "SLURM_JOB_EXIT_CODE_MAX",
                 mail.tasks ? mail.tasks->exit_max : mail.job->run.exit.code);
    if (!mail.tasks) return;
    add_variable(variables, "SLURM_JOB_EXIT_CODE_MIN", mail.tasks->exit_min);
    if (mail.tasks->signal_max > 0)
        add_variable(variables, "SLURM_JOB_TERM_SIGNAL_MAX", mail.tasks->signal_max);
}

}  // namespace

Mailer::Mailer(const PublishedState& published)
    : published_(published), queue_(kWaitingMost), thread_([this] { run(); }) {}

Mailer::~Mailer() {
    stopping_ = true;
    queue_.close();
    thread_.join();
}

void Mailer::take(SendMail mail) {
    if (!queue_.offer(mail))
        log_error("mail is not sent, {} others wait: {}", kWaitingMost, mail.subject);
}

void Mailer::run() {
    while (true) {
        auto next = queue_.take(1);
        if (next.empty()) return;
        if (stopping_) {
            log_error("mail is not sent, the controller ends: {}", next.front().subject);
        } else {
            send(next.front());
        }
    }
}

void Mailer::send(const SendMail& mail) {
    const auto live = published_.config.get();
    const auto owner = find_user(mail.job->user.value);
    const std::string& program = live->config.mail_prog;
    const std::string address = mail_address(*mail.job, owner, live->config.mail_domain);
    log_info("mail to {}: {}", address, mail.subject);
    const auto pid = spawn_quiet({program, "-s", mail.subject, address},
                                 mail_variables(mail, owner, live->config));
    if (!pid) return log_error("MailProg: {}", pid.error().detail);
    see_to_end(program, *pid);
}

void Mailer::see_to_end(const std::string& program, pid_t pid) {
    const auto deadline = std::chrono::steady_clock::now() + kTimeMost;
    std::optional<int> status;
    while (!(status = wait_for_exit(pid, kStopCheckWait))) {
        if (stopping_) return;
        if (std::chrono::steady_clock::now() < deadline) continue;
        log_error("MailProg: {} is killed, it took more than {} s", program, kTimeMost.count());
        kill(-pid, SIGKILL);  // it leads a session
        waitpid(pid, nullptr, 0);
        return;
    }
    if (*status != 0) log_error("MailProg: {} failed, wait status {}", program, *status);
}

std::string mail_address(const Job& job, const std::optional<User>& owner,
                         const std::string& domain) {
    if (!job.request->mail_user.empty()) return job.request->mail_user;
    std::string name = name_or_number(job, owner);
    const bool is_whole = domain.empty() || name.find('@') != std::string::npos;
    return is_whole ? name : fmt::format("{}@{}", name, domain);
}

std::vector<std::string> mail_variables(const SendMail& mail, const std::optional<User>& owner,
                                        const Config& config) {
    const Job& job = *mail.job;
    Variables variables = variables_of(job, owner, config);
    auto add = [&](std::string_view name, const auto& value) {
        add_variable(variables, name, value);
    };
    add("SLURM_JOB_STATE", state_name(job.state));
    add("SLURM_JOB_MAIL_TYPE", mail_word(mail.type));
    if (mail.length) {
        const bool begins = mail.type == MailType::Begin;
        add(begins ? "SLURM_JOB_QUEUED_TIME" : "SLURM_JOB_RUN_TIME", print_duration(*mail.length));
    }
    add_ending(mail, variables);
    return variables;
}

}  // namespace sluice
