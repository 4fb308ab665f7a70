#include "controller/mailer.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

#include "base/log.h"
#include "model/times.h"
#include "os/process.h"

namespace sluice {
namespace {

constexpr std::size_t kWaitingMost = 4096;
constexpr auto kTimeMost = std::chrono::seconds(60);  // for one mail
constexpr auto kStopCheckWait = std::chrono::milliseconds(100);
constexpr const char* kMailPath =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Variables = std::vector<std::string>;

template <typename T>
void add_variable(Variables& variables, std::string_view name, const T& value) {
    std::string text = fmt::format("{}", value);
    if (!text.empty()) variables.push_back(fmt::format("{}={}", name, text));
}

std::string name_or_number(const Job& job, const std::optional<User>& owner) {
    return owner ? owner->name : std::to_string(job.user.value);
}

void add_array(const Job& job, Variables& variables) {
    if (!job.array_task) return;
    const TaskSet& tasks = job.request->array->tasks;
    add_variable(variables, "SLURM_ARRAY_JOB_ID", job.array_job->value);
    add_variable(variables, "SLURM_ARRAY_TASK_ID", *job.array_task);
    add_variable(variables, "SLURM_ARRAY_TASK_COUNT", tasks.size());
    add_variable(variables, "SLURM_ARRAY_TASK_MIN", tasks.first());
    add_variable(variables, "SLURM_ARRAY_TASK_MAX", tasks.last());
}

void add_ending(const SendMail& mail, Variables& variables) {
    if (mail.type != MailType::End && mail.type != MailType::Fail) return;
    const ExitStatus& exit = mail.job->run.exit;
    add_variable(variables, "SLURM_JOB_EXIT_CODE", exit.code * 256 + exit.signal);
    add_variable(variables, "SLURM_JOB_EXIT_CODE2", fmt::format("{}:{}", exit.code, exit.signal));
    add_variable(variables, "SLURM_JOB_DERIVED_EC", mail.job->run.derived_exit.code);
    add_variable(variables, "SLURM_JOB_EXIT_CODE_MAX",
                 mail.tasks ? mail.tasks->exit_max : exit.code);
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
    Variables variables{kMailPath};
    auto add = [&](std::string_view name, const auto& value) {
        add_variable(variables, name, value);
    };
    add("SLURM_CLUSTER_NAME", config.cluster_name);
    add("SLURM_CONF", config.path);
    add("SLURM_JOB_ID", job.id.value);
    add("SLURM_JOBID", job.id.value);
    add("SLURM_JOB_NAME", job.details->name());
    add("SLURM_JOB_USER", name_or_number(job, owner));
    add("SLURM_JOB_UID", job.user.value);
    add("SLURM_JOB_GROUP", group_name(job.group.value));
    add("SLURM_JOB_GID", job.group.value);
    add("SLURM_JOB_ACCOUNT", job.request->account);
    add("SLURM_JOB_PARTITION", job.partition);
    add("SLURM_JOB_WORK_DIR", job.details->text(&JobDetails::work_dir));
    add("SLURM_JOB_RESTART_COUNT", job.run.restarts);
    add("SLURM_JOB_STATE", state_name(job.state));
    add("SLURM_JOB_MAIL_TYPE", mail_word(mail.type));
    if (job.run.allocation) {
        add("SLURM_JOB_NODELIST", job.run.allocation->node_names);
        add("SLURM_JOB_NUM_NODES", job.run.allocation->nodes.size());
    }
    if (mail.length) {
        const bool begins = mail.type == MailType::Begin;
        add(begins ? "SLURM_JOB_QUEUED_TIME" : "SLURM_JOB_RUN_TIME", print_duration(*mail.length));
    }
    add_array(job, variables);
    add_ending(mail, variables);
    return variables;
}

}  // namespace sluice
