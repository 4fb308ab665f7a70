#include "stepd/oci_task.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/text.h"
#include "model/errors.h"
#include "model/job.h"
#include "os/empty_directory.h"
#include "os/error.h"
#include "os/files.h"
#include "protocol/convert.h"
#include "stepd/environment.h"
#include "stepd/image_store.h"
#include "stepd/run_to_end.h"

namespace sluice {

namespace {

constexpr const char* kRuntimeShell = "/bin/sh";
constexpr const char* kScriptName = "slurm_script";

struct ContainerTexts {
    std::string container, setup;
};

ContainerTexts texts_of(const wire::StepOrder& order) {
    if (!order.has_batch())
        return {order.tasks().spec().container(), order.tasks().spec().container_setup()};
    const JobRequest request = request_of(order.batch().job());
    return {request.container, request.container_setup};
}

Error container_refused(std::string what) {
    return Error{ErrorCode::LaunchFailed, std::move(what)};
}

std::vector<std::string> shell_argv(const std::string& command) {
    return {"sh", "-c", command};
}

// The container's standard streams are those of the task, so the runtime must have them.
int run_with_streams(const std::string& command, const std::vector<std::string>& environment) {
    ProcessSpec spec;
    spec.program = kRuntimeShell;
    spec.argv = shell_argv(command);
    spec.environment = environment;
    spec.in = STDIN_FILENO;
    spec.out = STDOUT_FILENO;
    spec.err = STDERR_FILENO;
    const Result<pid_t> pid = spawn(spec);
    int status = 0;
    if (!pid || waitpid(*pid, &status, 0) != *pid) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

sigset_t all_signals() {
    sigset_t all;
    sigfillset(&all);
    return all;
}

// Ends as the container does, with all signals blocked since before it was started. A signal for
// this process alone is meant for the script in it.
[[noreturn]] void end_with(pid_t container, bool passes_signals) {
    const sigset_t all = all_signals();
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended == container && WIFEXITED(status)) _exit(WEXITSTATUS(status));
        if (ended == container || (ended < 0 && errno == ECHILD)) _exit(128 + WTERMSIG(status));
        if (ended > 0) continue;
        siginfo_t info{};
        if (sigwaitinfo(&all, &info) > 0 && info.si_signo != SIGCHLD && passes_signals)
            kill(container, info.si_signo);
    }
}

Result<std::string> read_as_user(const std::string& path) {
    return as(ErrorCode::LaunchFailed, read_file(path));
}

}  // namespace

bool OciTask::is_wanted(const wire::StepOrder& order) {
    const ContainerTexts texts = texts_of(order);
    return !texts.container.empty() || !texts.setup.empty();
}

OciTask::OciTask(const wire::StepOrder& order, const User& user, std::uint32_t task)
    : order_(order), oci_(order.oci()), user_(user) {
    ContainerTexts texts = texts_of(order);
    container_ = std::move(texts.container);
    if (!texts.setup.empty()) {
        Result<ContainerSetup> setup = parse_container_setup(texts.setup);
        if (setup) setup_ = *std::move(setup);
        if (!setup_) problem_ = setup.error().detail;
    }
    facts_.node = order.node();
    facts_.user = user.name;
    facts_.uid = user.uid;
    facts_.job = order.run().job();
    facts_.step = order.run().step();
    facts_.task = task;
    facts_.root = container_;
    facts_.bundle = fmt::format("{}/oci.{}.{}", order.directory(), facts_.step, task);
    if (!oci_.container_path().empty())
        facts_.bundle = expand_oci_pattern(oci_.container_path(), facts_);
    facts_.env_file = facts_.bundle + "/environment";
}

Result<std::shared_ptr<const OciTask>> OciTask::make(const wire::StepOrder& order, const User& user,
                                                     std::uint32_t task) {
    if (!is_wanted(order)) return std::shared_ptr<const OciTask>();
    std::shared_ptr<const OciTask> made(new OciTask(order, user, task));
    if (!order.has_oci()) {
        return container_refused(
            fmt::format("node {} has no oci.conf and so cannot run the container {}", order.node(),
                        made->container_));
    }
    if (!made->problem_.empty()) return container_refused(made->problem_);
    TRY(as(ErrorCode::NodeUnable, made->make_directory()));
    return made;
}

// In the spool, whose directories are root's. Another place is for the user to make.
Result<void> OciTask::make_directory() const {
    if (!oci_.container_path().empty()) return {};
    const std::string& path = facts_.bundle;
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) return os_error(path);
    if (geteuid() == 0 && lchown(path.c_str(), user_.uid, user_.gid) != 0) return os_error(path);
    return {};
}

void OciTask::add_to(ProcessSpec& spec) const {
    std::vector<std::string> argv = spec.argv;
    spec.search_path.reset();
    spec.before_program = [this, argv = std::move(argv),
                           first = std::move(spec.before_program)](std::vector<std::string>& env) {
        if (first) first(env);
        const Error error = run(argv, env);
        write_all(STDERR_FILENO, supervisor_line(error.detail));
        _exit(1);
    };
}

// A runtime without rights keeps its files below XDG_RUNTIME_DIR; those of a task go with it. It
// must not ask systemd for another cgroup.
std::vector<std::string> OciTask::runtime_environment(
    const std::vector<std::string>& entries) const {
    Environment environment(without_matching(entries, oci_.runtime_env_exclude()));
    environment.set("XDG_RUNTIME_DIR", facts_.bundle);
    environment.unset("DBUS_SESSION_BUS_ADDRESS");
    std::string path(environment.get("PATH"));
    for (const char* each : {"/usr/local/sbin", "/usr/sbin", "/sbin"}) {
        path += fmt::format("{}{}", path.empty() ? "" : ":", each);
    }
    environment.set("PATH", path);
    return environment.entries();
}

std::string OciTask::image_name() const {
    return setup_->name.empty() ? fmt::format(".step.{}", facts_.step) : setup_->name;
}

Result<void> OciTask::prepare_bundle(OciFacts& facts, OciTaskDemand demand) const {
    if (oci_.ignore_config()) return {};
    const std::string config = TRY(read_as_user(container_ + "/config.json"));
    facts.root = TRY(oci_root(config, container_));
    TRY(check_mounts(facts.root, demand.mounts));
    const std::string made = TRY(oci_config_of_bundle(config, container_, demand));
    return as(ErrorCode::LaunchFailed,
              write_file_atomically(facts.bundle + "/config.json", made, {.mode = 0600}));
}

Result<void> OciTask::prepare_image(OciFacts& facts, OciTaskDemand demand) const {
    ImageStore images(order_.scratch(), order_.node(), user_.uid);
    const UnpackedImage image =
        TRY(images.take(image_name(), setup_->image, facts.task, demand.environment));
    facts.root = image.root;
    std::vector<ContainerMount> mounts = common_mounts(order_.scratch());
    if (setup_->mount_home) mounts.push_back({user_.home, user_.home, {}});
    const std::vector<ContainerMount> asked = setup_->mounts.empty()
                                                  ? std::vector<ContainerMount>{}
                                                  : TRY(parse_container_mounts(setup_->mounts));
    mounts.insert(mounts.end(), asked.begin(), asked.end());
    mounts.insert(mounts.end(), demand.mounts.begin(), demand.mounts.end());
    demand.mounts = std::move(mounts);
    TRY(check_mounts(facts.root, demand.mounts));
    if (oci_.ignore_config()) return {};
    const std::string made =
        oci_config_of_image({std::move(demand), *setup_, image.words, image.root});
    return as(ErrorCode::LaunchFailed,
              write_file_atomically(facts.bundle + "/config.json", made, {.mode = 0600}));
}

Result<void> OciTask::prepare(OciFacts& facts, const std::vector<std::string>& entries) const {
    if (!oci_.container_path().empty()) TRY(make_directories(facts.bundle, S_IRWXU));
    OciTaskDemand demand;
    demand.environment = without_matching(entries, oci_.env_exclude());
    demand.terminal = order_.has_tasks() && order_.tasks().spec().pty();
    demand.uid = user_.uid;
    demand.gid = user_.gid;
    demand.hooks_disabled = {oci_.hooks_disabled().begin(), oci_.hooks_disabled().end()};
    if (order_.has_batch() && !oci_.ignore_config()) {
        const std::string seen =
            fmt::format("{}/{}", expand_oci_pattern(oci_.mount_spool_dir(), facts), kScriptName);
        demand.mounts.push_back({facts.argv[0], seen, {"bind", "ro"}});
        facts.argv[0] = seen;
    }
    demand.argv = facts.argv;
    if (const auto kind = static_cast<EnvFile>(oci_.env_file()); kind != EnvFile::None) {
        std::string text;
        for (const std::string& entry : demand.environment) {
            text += entry;
            text += kind == EnvFile::Lines ? '\n' : '\0';
        }
        TRY(write_file_atomically(facts.env_file, text, {.mode = 0600}));
    }
    TRY(write_file_atomically(facts.bundle + "/pid", fmt::format("{}", facts.pid), {.mode = 0600}));
    return setup_ ? prepare_image(facts, std::move(demand))
                  : prepare_bundle(facts, std::move(demand));
}

// Returns only if the runtime cannot be run.
Error OciTask::run(std::vector<std::string> argv, const std::vector<std::string>& entries) const {
    OciFacts facts = facts_;
    facts.argv = std::move(argv);
    facts.pid = getpid();
    if (Result<void> ready = prepare(facts, entries); !ready) return ready.error();
    const std::vector<std::string> environment = runtime_environment(entries);
    if (oci_.run().empty()) return create_and_start(facts, environment);
    std::vector<char*> words, variables;
    // The shell becomes the runtime, which passes signals on to the container.
    std::vector<std::string> command = shell_argv("exec " + expand_oci_pattern(oci_.run(), facts));
    for (std::string& word : command) words.push_back(word.data());
    for (const std::string& entry : environment)
        variables.push_back(const_cast<char*>(entry.c_str()));
    words.push_back(nullptr);
    variables.push_back(nullptr);
    execve(kRuntimeShell, words.data(), variables.data());
    return os_error(kRuntimeShell);
}

// The container becomes our child when `create` has ended, so that its end can be waited for.
Error OciTask::create_and_start(const OciFacts& facts,
                                const std::vector<std::string>& environment) const {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto do_it = [&](const std::string& pattern) {
        return run_with_streams(expand_oci_pattern(pattern, facts), environment);
    };
    if (const int code = do_it(oci_.create()); code != 0) _exit(code);
    const ProgramOutcome state =
        run_to_end(kRuntimeShell, shell_argv(expand_oci_pattern(oci_.query(), facts)), environment);
    const std::optional<pid_t> container = oci_state_pid(state.output);
    if (state.exit_code != 0 || !container)
        return container_refused(
            fmt::format("RunTimeQuery did not report the container: {}", state.output));
    // A signal that comes when the script runs must not end this process instead.
    const sigset_t all = all_signals();
    sigprocmask(SIG_BLOCK, &all, nullptr);
    if (const int code = do_it(oci_.start()); code != 0) _exit(code);
    end_with(*container, order_.has_batch());
}

void OciTask::clean_up(int wait_status) const {
    OciFacts facts = facts_;
    if (const Result<std::string> pid = read_file(facts.bundle + "/pid"))
        facts.pid = static_cast<pid_t>(to_number(*pid).value_or(0));
    Environment environment;
    environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    environment.set("HOME", user_.home);
    const std::vector<std::string> entries = runtime_environment(environment.entries());
    auto run_pattern = [&](const std::string& pattern) {
        if (!pattern.empty())
            run_to_end(kRuntimeShell, shell_argv(expand_oci_pattern(pattern, facts)), entries);
    };
    const bool was_killed = WIFSIGNALED(wait_status) || WEXITSTATUS(wait_status) > 128;
    if (was_killed && facts.pid > 0) run_pattern(oci_.kill());
    run_pattern(oci_.delete_());
    if (oci_.keep()) return;
    if (setup_)
        ImageStore(order_.scratch(), order_.node(), user_.uid)
            .give_back(image_name(), facts.task, setup_->name.empty());
    const Fd directory(open(facts.bundle.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (directory) (void)empty_directory(directory.get());
    (void)rmdir(facts.bundle.c_str());  // in the spool slurmd removes it
}

}  // namespace sluice
