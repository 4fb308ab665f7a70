#include "agent/hooks.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "os/process.h"
#include "os/user.h"

namespace sluice {

namespace {

constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::vector<std::string> variables_of(const Site& site, bool prolog, const HookJob& job) {
    std::optional<User> user = find_user(job.user);
    return {
        kPath,
        fmt::format("SLURM_JOB_ID={}", job.key.job.value),
        fmt::format("SLURM_JOBID={}", job.key.job.value),
        fmt::format("SLURM_JOB_UID={}", job.user),
        fmt::format("SLURM_JOB_GID={}", job.group),
        fmt::format("SLURM_JOB_USER={}", user ? user->name : std::to_string(job.user)),
        fmt::format("SLURM_RESTART_COUNT={}", job.key.restarts),
        fmt::format("SLURM_CLUSTER_NAME={}", site.config.cluster_name),
        fmt::format("SLURM_CONF={}", site.config.path),
        fmt::format("SLURMD_NODENAME={}", site.node.name),
        fmt::format("SLURM_SCRIPT_CONTEXT={}", prolog ? "prolog_slurmd" : "epilog_slurmd"),
    };
}

}  // namespace

void Hooks::run(const Site& site, bool prolog, const HookJob& job, std::function<void(int)> done) {
    const std::string& program = prolog ? site.config.prolog : site.config.epilog;
    if (program.empty()) return done(0);
    Seconds limit = prolog ? site.config.prolog_timeout : site.config.epilog_timeout;
    start({program}, variables_of(site, prolog, job), limit, std::move(done));
}

void Hooks::run_reboot(const Site& site) {
    std::vector<std::string> argv;
    for (std::string_view word : words(site.config.reboot_program)) argv.emplace_back(word);
    if (argv.empty()) return log_error("reboot: RebootProgram is not set in {}", site.config.path);
    log_info("reboot: running {}", site.config.reboot_program);
    start(argv,
          {kPath, fmt::format("SLURM_CONF={}", site.config.path),
           fmt::format("SLURM_CLUSTER_NAME={}", site.config.cluster_name),
           fmt::format("SLURMD_NODENAME={}", site.node.name)},
          Seconds{0}, [program = argv.front()](int status) {
              if (status != 0) log_error("reboot: {} failed, wait status {}", program, status);
          });
}

// No limit: zero.
void Hooks::start(std::vector<std::string> argv, std::vector<std::string> environment, Seconds limit,
                  std::function<void(int)> done) {
    ProcessSpec spec;
    spec.program = argv.front();
    spec.argv = std::move(argv);
    spec.environment = std::move(environment);
    spec.directory = "/";
    spec.directory_fallback = "/";
    spec.err = STDERR_FILENO;
    spec.new_session = true;
    Result<pid_t> pid = spawn(spec);
    if (!pid) {
        log_error("{}: {}", spec.program, pid.error().detail);
        return done(-1);
    }
    Running& running = running_[*pid];
    running.done = std::move(done);
    if (limit.count() > 0) {
        running.timeout = loop_.after(limit, [pid = *pid] { kill(-pid, SIGKILL); });
    }
}

void Hooks::on_exit(pid_t pid, int wait_status) {
    auto found = running_.find(pid);
    if (found == running_.end()) return;
    Running running = std::move(found->second);
    running_.erase(found);
    loop_.cancel(running.timeout);
    running.done(wait_status);
}

}  // namespace sluice
