#include "os/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <unordered_map>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

// The exit code of a process that cannot go on.
int complain(const std::string& what) {
    int number = errno;
    write_all(STDERR_FILENO, supervisor_line(fmt::format("{}: {}", what, std::strerror(number))));
    return number;
}

void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Each may be one of 0, 1, 2 itself, so all are first moved out of the way.
void set_stdio(const ProcessSpec& spec) {
    int wanted[3] = {spec.in, spec.out, spec.err};
    for (int& fd : wanted) {
        if (fd < 0) {
            fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        } else if (fd < 3) {
            fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        }
    }
    for (int i = 0; i < 3; ++i) dup2(wanted[i], i);
}

// Compat: a limit of the submitter cannot exceed the hard limit under which slurmd runs.
void set_limits(const ProcessSpec& spec) {
    for (auto [resource, soft] : spec.limits) {
        rlimit limit{};
        if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) continue;
        // RLIM_INFINITY is the largest number, so it compares as it should.
        limit.rlim_cur = std::min(soft, limit.rlim_max);
        setrlimit(static_cast<__rlimit_resource>(resource), &limit);
    }
}

// The daemons may be protected from the kernel's OOM killer (OOMScoreAdjust= of their units), but
// what they start for users is not.
void drop_oom_protection() {
    Fd file(open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC));
    char sign = 0;
    if (!file || read(file.get(), &sign, 1) != 1 || sign != '-') return;
    if (pwrite(file.get(), "0", 1, 0) != 1) return;  // raising it is always allowed
}

// What failed, or null.
const char* become(const User& user) {
    if (geteuid() != 0) return nullptr;
    if (setgroups(user.groups.size(), user.groups.data()) != 0) return "setgroups";
    if (setresgid(user.gid, user.gid, user.gid) != 0) return "setgid";
    if (setresuid(user.uid, user.uid, user.uid) != 0) return "setuid";
    return nullptr;
}

bool enter_directory(const ProcessSpec& spec) {
    if (spec.directory.empty() || chdir(spec.directory.c_str()) == 0) return true;
    // Compat: a job whose directory does not exist on the node runs in /tmp, and says so.
    std::string text = fmt::format("couldn't chdir to `{}': {}: going to {} instead",
                                   spec.directory, std::strerror(errno), spec.directory_fallback);
    write_all(STDERR_FILENO, supervisor_line(text));
    return chdir(spec.directory_fallback.c_str()) == 0;
}

// Of a script that is there but cannot be run for want of it.
std::string interpreter_of(const std::string& script) {
    Fd file(open(script.c_str(), O_RDONLY | O_CLOEXEC));
    char text[256];
    ssize_t count = file ? read(file.get(), text, sizeof text) : -1;
    std::string_view line(text, count > 0 ? static_cast<std::size_t>(count) : 0);
    line = line.substr(0, line.find('\n'));
    if (!line.starts_with("#!")) return {};
    std::vector<std::string_view> parts = words(line.substr(2));
    return parts.empty() ? std::string() : std::string(parts[0]);
}

// Where the process runs and what it may use. What failed, or null.
const char* confine(const ProcessSpec& spec) {
    for (int cgroup : spec.cgroups) {
        if (write(cgroup, "0", 1) != 1) return "cannot join the job's cgroup";
    }
    if (!spec.cpus.empty() && !set_cpus(0, spec.cpus)) return "cannot bind the task to its CPUs";
    if (spec.memory_policy && !set_memory_policy(*spec.memory_policy, spec.memory_domains)) {
        return "cannot bind the task to its memory";
    }
    set_limits(spec);
    drop_oom_protection();
    if (spec.umask) umask(*spec.umask);
    return nullptr;
}

// Done before anything can block: a peer that waits for one of our connections to close must not
// wait for this process.
void close_others(const ProcessSpec& spec) {
    // Each may be where the other shall be, so both are first moved out of the way.
    const std::pair<int, int> wanted[] = {{spec.kept, kKeptFd}, {spec.inherited, kInheritedFd}};
    int moved[std::size(wanted)];
    for (std::size_t i = 0; i < std::size(wanted); ++i) {
        moved[i] =
            wanted[i].first < 0 ? -1 : fcntl(wanted[i].first, F_DUPFD_CLOEXEC, kInheritedFd + 1);
    }
    for (std::size_t i = 0; i < std::size(wanted); ++i) {
        if (moved[i] < 0) {
            close(wanted[i].second);
        } else {
            dup3(moved[i], wanted[i].second, O_CLOEXEC);
        }
    }
    closefrom(kInheritedFd + 1);
}

// What was kept is closed, and what open_files has left open.
void close_kept(const ProcessSpec& spec) {
    if (spec.inherited < 0) return closefrom(kKeptFd);
    close(kKeptFd);
    closefrom(kInheritedFd + 1);
}

int refuse(const ProcessSpec& spec, const char* what) {
    const int number = errno;
    if (!spec.on_failure) return complain(what);
    spec.on_failure(fmt::format("{}: {}", what, std::strerror(number)));
    return number;
}

// Returns only if the program cannot be run.
void run_program(const ProcessSpec& spec, const std::string& program) {
    std::vector<std::string> environment = spec.environment;
    if (!spec.pid_variable.empty())
        environment.push_back(fmt::format("{}={}", spec.pid_variable, getpid()));
    if (spec.before_program) spec.before_program(environment);
    if (spec.inherited >= 0) fcntl(kInheritedFd, F_SETFD, 0);
    execve(program.c_str(), pointers(spec.argv).data(), pointers(environment).data());
}

// Returns only if the program could not be executed: the exit code. Signals have their default
// action before anything can block, so that a signal ends the process there too.
int run_child(const ProcessSpec& spec) {
    if (spec.new_session) setsid();
    if (spec.new_group) setpgid(0, 0);
    set_stdio(spec);
    if (spec.controlling_tty) ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    const char* failed = confine(spec);
    close_others(spec);
    if (!failed && spec.user) failed = become(*spec.user);
    if (failed) return refuse(spec, failed);
    reset_signals();
    if (spec.open_files && !spec.open_files()) return 1;
    close_kept(spec);
    if (!spec.preface.empty()) write_all(STDERR_FILENO, spec.preface);
    if (spec.bound_preface) write_all(STDERR_FILENO, spec.bound_preface());
    if (!enter_directory(spec)) return complain("chdir");

    const std::string program = !spec.search_path
                                    ? spec.program
                                    : find_program(spec.program, *spec.search_path, spec.directory);
    run_program(spec, program);
    int number = errno;
    std::string culprit = spec.argv.empty() ? spec.program : spec.argv[0];
    std::string interpreter = number == ENOENT ? interpreter_of(program) : "";
    if (!interpreter.empty()) culprit = fmt::format("bad interpreter({})", interpreter);
    errno = number;
    return complain(fmt::format("execve(): {}", culprit));
}

}  // namespace

// A signal that comes before the program runs must not be lost: what is ignored here waits, as long
// as it is blocked, until the child has the program's own answer to it.
Result<pid_t> spawn(const ProcessSpec& spec) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) _exit(run_child(spec));
    int number = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) return os_error("fork", number);
    return pid;
}

void write_in_time(int fd, std::string_view text, std::chrono::milliseconds most) {
    const pid_t writer = fork();
    if (writer == 0) {
        reset_signals();
        dup2(fd, kKeptFd);
        closefrom(kKeptFd + 1);
        _exit(write_all(kKeptFd, text) ? 0 : 1);
    }
    if (writer > 0 && !wait_for_exit(writer, most)) kill(writer, SIGKILL);
}

namespace {

// What to do with the descriptors of a new process.
class FileActions {
public:
    FileActions() { posix_spawn_file_actions_init(&actions_); }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    posix_spawn_file_actions_t* get() { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

Result<pid_t> spawn_cheaply(const std::string& program, const std::vector<std::string>& argv,
                            char* const* environment, FileActions& actions) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = -1;
    int number = posix_spawn(&pid, program.c_str(), actions.get(), &attributes,
                             pointers(argv).data(), environment);
    posix_spawnattr_destroy(&attributes);
    if (number != 0) return os_error(program, number);
    return pid;
}

}  // namespace

Result<pid_t> spawn_helper(const std::string& program, const std::vector<std::string>& argv,
                           const std::vector<int>& fds) {
    FileActions actions;
    // First above all targets, then down: a source may be another's target.
    int above = 3 + static_cast<int>(fds.size());
    std::vector<Fd> moved;
    for (std::size_t i = 0; i < fds.size(); ++i) {
        moved.emplace_back(fcntl(fds[i], F_DUPFD_CLOEXEC, above));
        posix_spawn_file_actions_adddup2(actions.get(), moved.back().get(),
                                         3 + static_cast<int>(i));
    }
    posix_spawn_file_actions_addclosefrom_np(actions.get(), above);
    return spawn_cheaply(program, argv, environ, actions);
}

Result<pid_t> spawn_quiet(const std::vector<std::string>& argv,
                          const std::vector<std::string>& environment) {
    FileActions actions;
    posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(actions.get(), 3);
    return spawn_cheaply(argv.front(), argv, pointers(environment).data(), actions);
}

Error replace_program(const std::vector<std::string>& argv) {
    execvp(argv.front().c_str(), pointers(argv).data());
    return os_error(argv.front());
}

std::optional<int> wait_for_exit(pid_t pid, std::chrono::milliseconds most) {
    const Fd watched(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    pollfd exit{watched.get(), POLLIN, 0};
    poll(&exit, 1, static_cast<int>(most.count()));
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) != pid) return {};
    return status;
}

std::string find_program(const std::string& name, const std::string& path,
                         const std::string& directory) {
    if (name.find('/') != std::string::npos) return name;
    for (std::string_view each : split(path, ':')) {
        std::string candidate =
            fmt::format("{}/{}", absolute_path(each.empty() ? "." : each, directory), name);
        struct stat status {};
        if (stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
    }
    return name;
}

std::optional<int> limit_number(const std::string& name) {
    static const std::unordered_map<std::string, int> kLimits = {
        {"CPU", RLIMIT_CPU},     {"FSIZE", RLIMIT_FSIZE},   {"DATA", RLIMIT_DATA},
        {"STACK", RLIMIT_STACK}, {"CORE", RLIMIT_CORE},     {"RSS", RLIMIT_RSS},
        {"NPROC", RLIMIT_NPROC}, {"NOFILE", RLIMIT_NOFILE}, {"MEMLOCK", RLIMIT_MEMLOCK},
        {"AS", RLIMIT_AS},
    };
    auto found = kLimits.find(name);
    if (found == kLimits.end()) return {};
    return found->second;
}

std::string supervisor_line(const std::string& text) {
    timeval now{};
    gettimeofday(&now, nullptr);
    tm local{};
    localtime_r(&now.tv_sec, &local);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &local);
    return fmt::format("[{}.{:03}] error: {}\n", stamp, now.tv_usec / 1000, text);
}

}  // namespace sluice
