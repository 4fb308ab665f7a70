#include "os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <climits>
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

void set_limits(const ProcessSpec& spec) {
    for (auto [resource, soft] : spec.limits) {
        rlimit limit{};
        if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) continue;
        limit.rlim_cur = soft;
        // RLIM_INFINITY is the largest number, so it compares as it should.
        if (soft > limit.rlim_max) {
            if (geteuid() == 0) {
                limit.rlim_max = soft;
            } else {
                limit.rlim_cur = limit.rlim_max;
            }
        }
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

// What failed, or null. The kernel's own calls: the library's speak for all threads, and those it
// knows of are our parent's.
const char* become(const User& user) {
    if (geteuid() != 0) return nullptr;
    if (syscall(SYS_setgroups, user.groups.size(), user.groups.data()) != 0) return "setgroups";
    if (syscall(SYS_setresgid, user.gid, user.gid, user.gid) != 0) return "setgid";
    if (syscall(SYS_setresuid, user.uid, user.uid, user.uid) != 0) return "setuid";
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

// What the program is given, made beforehand: the child may be in our memory, and never comes back
// to free its own.
class Handover {
public:
    explicit Handover(const ProcessSpec& spec)
        : argv_(pointers(spec.argv)), environment_(pointers(spec.environment)) {
        if (spec.pid_variable.empty()) return;
        pid_entry_ = spec.pid_variable + "=";
        number_at_ = pid_entry_.size();
        pid_entry_.append(kNumberSize, '\0');
        environment_.back() = pid_entry_.data();
        environment_.push_back(nullptr);
    }

    // By the child itself.
    void note_pid() {
        if (!pid_entry_.empty())
            std::snprintf(&pid_entry_[number_at_], kNumberSize, "%d", getpid());
    }
    char** argv() { return argv_.data(); }
    char** environment() { return environment_.data(); }

private:
    static constexpr std::size_t kNumberSize = 16;

    std::vector<char*> argv_, environment_;
    std::string pid_entry_;
    std::size_t number_at_ = 0;
};

// In a copy of our memory: it may change the environment as it likes.
void run_before(const ProcessSpec& spec, char** argv, char** environment) {
    std::vector<std::string> entries;
    for (char** entry = environment; *entry; ++entry) entries.emplace_back(*entry);
    spec.before_program(entries);
    execve(spec.program.c_str(), argv, pointers(entries).data());
}

// Until the program runs; else its exit code.
int run_child(const ProcessSpec& spec, Handover& handover) {
    if (spec.new_session) setsid();
    if (spec.new_group) setpgid(0, 0);
    set_stdio(spec);
    if (spec.controlling_tty) ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    for (int cgroup : spec.cgroups) {
        if (write(cgroup, "0", 1) != 1) return complain("cannot join the job's cgroup");
    }
    if (!spec.cpus.empty()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (int cpu : spec.cpus) CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    set_limits(spec);
    drop_oom_protection();
    if (spec.umask) umask(*spec.umask);
    const char* failed = spec.user ? become(*spec.user) : nullptr;
    if (failed) return complain(failed);
    if (!enter_directory(spec)) return complain("chdir");
    reset_signals();
    closefrom(3);  // whatever we have, inherited or forgot to mark: it is not theirs

    handover.note_pid();
    if (spec.before_program)
        run_before(spec, handover.argv(), handover.environment());
    else
        execve(spec.program.c_str(), handover.argv(), handover.environment());
    int number = errno;
    std::string culprit = spec.argv.empty() ? spec.program : spec.argv[0];
    std::string interpreter = number == ENOENT ? interpreter_of(spec.program) : "";
    if (!interpreter.empty()) culprit = fmt::format("bad interpreter({})", interpreter);
    errno = number;
    return complain(fmt::format("execve(): {}", culprit));
}

struct Child {
    const ProcessSpec& spec;
    Handover handover;
};

int run_child_of(void* child) {
    auto& self = *static_cast<Child*>(child);
    return run_child(self.spec, self.handover);
}

// It works in our memory, on a part of our stack, while we wait for its program to begin: nothing
// need be copied for it.
pid_t start_in_our_memory(Child& child) {
    alignas(16) char stack[128u << 10];
    return clone(run_child_of, std::end(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
}

pid_t start_in_a_copy(Child& child) {
    const pid_t pid = fork();
    if (pid == 0) _exit(run_child_of(&child));
    return pid;
}

}  // namespace

// A signal that comes before the program runs must not be lost: what is ignored here waits, as long
// as it is blocked, until the child has the program's own answer to it.
Result<pid_t> spawn(const ProcessSpec& spec) {
    Child child{spec, Handover(spec)};
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    // What is to be done before the program may take long.
    pid_t pid = spec.before_program ? start_in_a_copy(child) : start_in_our_memory(child);
    int number = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) return os_error("fork", number);
    return pid;
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

void adopt_orphans() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

namespace {

// The kernel's own list of children; nothing where it is not compiled in.
std::optional<std::vector<pid_t>> children_listed(pid_t parent) {
    std::vector<pid_t> children;
    std::string tasks = fmt::format("/proc/{}/task", parent);
    for (const std::string& thread : list_directory(tasks)) {
        Result<std::string> text = read_file(fmt::format("{}/{}/children", tasks, thread));
        if (!text) continue;
        for (std::string_view word : words(*text)) {
            if (auto pid = to_number(word)) children.push_back(static_cast<pid_t>(*pid));
        }
    }
    if (children.empty() && access("/proc/self/task/self/children", F_OK) != 0 &&
        access(fmt::format("/proc/self/task/{}/children", getpid()).c_str(), F_OK) != 0) {
        return {};
    }
    return children;
}

std::vector<std::pair<pid_t, pid_t>> parents_of_all() {  // pid, parent
    std::vector<std::pair<pid_t, pid_t>> result;
    for (const std::string& name : list_directory("/proc")) {
        std::optional<std::uint64_t> pid = to_number(name);
        if (!pid) continue;
        Result<std::string> stat = read_file(fmt::format("/proc/{}/stat", name));
        if (!stat) continue;
        std::size_t after = stat->rfind(')');  // the program's name may hold anything
        if (after == std::string::npos) continue;
        std::vector<std::string_view> fields = words(std::string_view(*stat).substr(after + 1));
        if (fields.size() < 2) continue;
        result.emplace_back(static_cast<pid_t>(*pid),
                            static_cast<pid_t>(to_number(fields[1]).value_or(0)));
    }
    return result;
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
    std::vector<pid_t> found = {root};
    std::optional<std::vector<std::pair<pid_t, pid_t>>> all;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!all) {
            if (auto children = children_listed(found[i])) {
                found.insert(found.end(), children->begin(), children->end());
                continue;
            }
            all = parents_of_all();
        }
        for (auto [pid, parent] : *all) {
            if (parent == found[i]) found.push_back(pid);
        }
    }
    found.erase(found.begin());
    return found;
}

bool handles(pid_t pid, int signal) {
    constexpr std::string_view kCaught = "\nSigCgt:\t";
    const Result<std::string> status = read_file(fmt::format("/proc/{}/status", pid));
    const std::size_t at = status ? status->find(kCaught) : std::string::npos;
    if (at == std::string::npos) return false;
    const std::uint64_t caught = std::strtoull(status->c_str() + at + kCaught.size(), nullptr, 16);
    return caught >> (signal - 1) & 1;
}

}  // namespace sluice
