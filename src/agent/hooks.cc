#include "agent/hooks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "agent/private_dirs.h"
#include "agent/scratch.h"
#include "agent/sync_order.h"
#include "base/log.h"
#include "base/text.h"
#include "os/process.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::vector<std::string> own_variables(const Site& site) {
    return {kPath, fmt::format("SLURM_CONF={}", site.config.path),
            fmt::format("SLURM_CLUSTER_NAME={}", site.config.cluster_name),
            fmt::format("SLURMD_NODENAME={}", site.node.name)};
}

// What the batch job's own environment says under the same names.
std::vector<std::string> facts_of(const wire::JobAllocation& job) {
    const JobRequest request = request_of(job);
    std::vector<std::string> facts;
    auto add = [&](std::string_view name, const auto& value) {
        std::string text = fmt::format("{}", value);
        if (!text.empty()) facts.push_back(fmt::format("{}={}", name, text));
    };
    add("SLURM_JOB_PARTITION", job.partition());
    add("SLURM_JOB_NODELIST", job.node_names());
    add("SLURM_JOB_ACCOUNT", request.account);
    add("SLURM_JOB_QOS", request.qos);
    add("SLURM_JOB_LICENSES", request.licenses);
    add("SLURM_JOB_SLUID", job.sluid());
    if (job.start_time() != 0) add("SLURM_JOB_START_TIME", job.start_time());
    if (job.start_time() != 0 && job.time_limit().has_seconds()) {
        add("SLURM_JOB_END_TIME", job.start_time() + job.time_limit().seconds());
    }
    if (job.has_array_task()) {
        add("SLURM_ARRAY_JOB_ID", job.array_job());
        add("SLURM_ARRAY_TASK_ID", job.array_task());
    }
    return facts;
}

std::vector<std::string> variables_of(const Site& site, bool prolog, const HookJob& job) {
    std::vector<std::string> variables = own_variables(site);
    const std::string more[] = {
        fmt::format("SLURM_JOB_ID={}", job.key.job.value),
        fmt::format("SLURM_JOBID={}", job.key.job.value),
        fmt::format("SLURM_JOB_UID={}", job.user),
        fmt::format("SLURM_JOB_GID={}", job.group),
        fmt::format("SLURM_RESTART_COUNT={}", job.key.restarts),
        fmt::format("SLURM_SCRIPT_CONTEXT={}", prolog ? "prolog_slurmd" : "epilog_slurmd"),
        fmt::format("SCRATCH={}", scratch_path(site.scratch, job.key)),
        fmt::format("SLURM_TMPDIR={}", scratch_path(site.scratch, job.key)),
    };
    variables.insert(variables.end(), std::begin(more), std::end(more));
    variables.insert(variables.end(), job.variables.begin(), job.variables.end());
    if (job.gpus.empty()) return variables;
    // The programs are in no device cgroup: they see all devices, by the node's own numbers.
    const std::string gpus = fmt::format("{}", fmt::join(job.gpus, ","));
    variables.push_back(fmt::format("SLURM_JOB_GPUS={}", gpus));
    for (const std::string& name : job.gpu_variables)
        variables.push_back(fmt::format("{}={}", name, gpus));
    return variables;
}

}  // namespace

HookJob hook_job(const wire::StepOrder& order, const wire::JobAllocation& facts) {
    HookJob job;
    job.key = key_of(order.run()).job;
    job.user = order.user();
    job.group = order.group();
    job.variables = facts_of(facts);
    const std::string stage_in = request_of(facts).stage_in;
    if (!stage_in.empty()) job.data.push_back({DataKind::StageIn, stage_in});
    // On the node of the script they come with the script, whose variables they need.
    const bool is_due = order.has_batch() || rank_in_job(facts, order.node()) > 0;
    const std::string sync = is_due ? request_of(facts).sync : "";
    job.syncs = !sync.empty();
    if (job.syncs && job.key.restarts > 0) job.data.push_back({DataKind::Restore, sync});
    const std::vector<std::uint32_t> gpus = gpus_of(order.share());
    job.gpus.insert(gpus.begin(), gpus.end());
    job.gpu_variables.insert(order.gpus().variables().begin(), order.gpus().variables().end());
    if (order.gpus().mps_percent() > 0) {
        job.variables.push_back(
            fmt::format("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={}", order.gpus().mps_percent()));
    }
    return job;
}

// NUL after each: a number is a GPU, a word without "=" a variable that names the GPUs.
std::string print_learned(const HookJob& job) {
    std::string printed;
    for (std::uint32_t gpu : job.gpus) printed.append(fmt::format("{}", gpu)).push_back('\0');
    for (const std::string& name : job.gpu_variables) printed.append(name).push_back('\0');
    for (const std::string& variable : job.variables) printed.append(variable).push_back('\0');
    return printed;
}

void recall(HookJob& job, std::string_view printed) {
    job.variables.clear();
    for (std::string_view word : split(printed, '\0')) {
        if (word.empty()) continue;
        if (std::optional<std::uint64_t> gpu = to_number(word)) {
            job.gpus.insert(static_cast<std::uint32_t>(*gpu));
        } else if (word.find('=') == std::string_view::npos) {
            job.gpu_variables.emplace(word);
        } else {
            job.variables.emplace_back(word);
        }
    }
}

namespace {

std::vector<HookProgram> programs_of(const Site& site, bool prolog) {
    std::vector<HookProgram> programs;
    if (prolog && site.container) programs.push_back({site.container->init_script});
    if (site.container) {
        const JobContainerLine& line = *site.container;
        programs.push_back({prolog ? line.clone_ns_script : line.clone_ns_epilog, true});
    }
    programs.push_back({prolog ? site.config.prolog : site.config.epilog});
    std::erase_if(programs, [](const HookProgram& each) { return each.path.empty(); });
    return programs;
}

}  // namespace

bool has_prolog(const Site& site) {
    return !programs_of(site, true).empty();
}

bool has_epilog(const Site& site) {
    return !programs_of(site, false).empty();
}

namespace {

// What starts the program: see stepd/enter.h.
std::vector<std::string> enter_with(const Site& site, uid_t user, const HookProgram& program) {
    std::vector<std::string> argv{site.stepd_path, "enter", "name", std::to_string(user)};
    if (program.in_job) add_directories(argv, program.directories, program.shared_mounts);
    argv.insert(argv.end(), {"--", program.path});
    return argv;
}

}  // namespace

void Hooks::run(const Site& site, bool prolog, const HookJob& job, std::function<void(int)> done) {
    const Seconds limit = prolog ? site.config.prolog_timeout : site.config.epilog_timeout;
    const std::vector<std::string> variables = variables_of(site, prolog, job);
    std::vector<HookStart> starts;
    for (HookProgram& each : programs_of(site, prolog)) {
        if (each.in_job) each.directories = private_directories(site, job.key);
        each.shared_mounts = site.container && site.container->shared;
        starts.push_back({enter_with(site, job.user, each), variables});
    }
    if (!site.config.prolog_flags.serial || starts.empty())
        return run_all(std::move(starts), limit, std::move(done));
    run_in_turn([this, starts = std::move(starts), limit, done = std::move(done)] {
        run_all(starts, limit, [this, done](int status) {
            on_turn_ended();
            done(status);
        });
    });
}

void Hooks::run_in_turn(std::function<void()> start) {
    if (is_taken_) return waiting_.push_back(std::move(start));
    is_taken_ = true;
    start();
}

void Hooks::on_turn_ended() {
    is_taken_ = !waiting_.empty();
    if (!is_taken_) return;
    loop_.later(std::move(waiting_.front()));
    waiting_.pop_front();
}

// One after the other, until one fails.
void Hooks::run_all(std::vector<HookStart> programs, Seconds limit, std::function<void(int)> done) {
    if (programs.empty()) return done(0);
    HookStart first = std::move(programs.front());
    programs.erase(programs.begin());
    auto go_on = [this, programs = std::move(programs), limit, done = std::move(done)](int status) {
        if (status != 0) return done(status);
        run_all(programs, limit, done);
    };
    start(std::move(first.argv), std::move(first.environment), limit, std::move(go_on));
}

void Hooks::run_unkillable(const Site& site, const RunKey& key) {
    const std::string& program = site.config.unkillable_step_program;
    if (program.empty()) return;
    std::vector<std::string> variables = own_variables(site);
    variables.push_back(fmt::format("SLURM_JOB_ID={}", key.job.job.value));
    variables.push_back(fmt::format("SLURM_STEP_ID={}", print_step(key.step)));
    start({program}, std::move(variables), site.config.unkillable_step_timeout,
          [program](int status) {
              if (status != 0) log_error("{} failed, wait status {}", program, status);
          });
}

void Hooks::run_reboot(const Site& site) {
    std::vector<std::string> argv;
    for (std::string_view word : words(site.config.reboot_program)) argv.emplace_back(word);
    if (argv.empty()) return log_error("reboot: RebootProgram is not set in {}", site.config.path);
    log_info("reboot: running {}", site.config.reboot_program);
    start(argv, own_variables(site), Seconds{0}, [program = argv.front()](int status) {
        if (status != 0) log_error("reboot: {} failed, wait status {}", program, status);
    });
}

void Hooks::run_health_check(const Site& site, std::function<void()> done) {
    const std::string& program = site.config.health_check_program;
    if (program.empty() || is_checking_health_) return done();
    is_checking_health_ = true;
    start({program}, own_variables(site), site.config.health_check_timeout,
          [this, program, done = std::move(done)](int status) {
              is_checking_health_ = false;
              if (status != 0) log_error("HealthCheckProgram: {}: wait status {}", program, status);
              done();
          });
}

// No limit: zero.
void Hooks::start(std::vector<std::string> argv, std::vector<std::string> environment,
                  Seconds limit, std::function<void(int)> done) {
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
