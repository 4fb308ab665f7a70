// os/process.h
//
// Starts programs with a defined user, directory, environment, limits and file descriptors.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/affinity.h"
#include "os/user.h"

namespace sluice {

struct ProcessSpec {
    std::string program;  // a path, or a name that is looked up in `search_path`
    // As PATH; looked up by the new process, with its rights. Absent: not looked up.
    std::optional<std::string> search_path;
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // "NAME=value"
    std::string pid_variable;              // set in the environment to the new process's pid
    std::string directory;                 // empty: ours
    std::string directory_fallback;        // where to go, with a line on stderr, if that fails
    const User* user = nullptr;            // absent: our own user
    std::optional<mode_t> umask;
    std::vector<std::pair<int, rlim_t>> limits;  // RLIMIT_x, soft; our hard limits are kept
    int in = -1, out = -1, err = -1;             // -1: /dev/null
    bool new_session = false;
    bool new_group = false;
    bool controlling_tty = false;     // `in` is a terminal and becomes the session's
    std::vector<int> cgroups;         // open cgroup.procs files to join
    std::vector<std::uint32_t> cpus;  // affinity; empty: unchanged
    std::optional<MemoryPolicy> memory_policy;
    std::vector<std::uint32_t> memory_domains;  // for the policy
    int kept = -1;  // this descriptor of ours is kKeptFd of the new process until the program runs
    int inherited = -1;  // and this one is kInheritedFd of the program
    // In the new process, with its rights: replaces its descriptors 0, 1 and 2. It may block for as
    // long as it likes. Where it fails, the process exits.
    std::function<bool()> open_files;
    // Receives what fails in the new process before open_files is called.
    std::function<void(const std::string& what)> on_failure;
    std::string preface;  // is written to its standard error first
    // The same, made by the new process once it is bound to its CPUs and its memory.
    std::function<std::string()> bound_preface;
    // The last thing before the program, in its process and with its rights: it may change the
    // environment.
    std::function<void(std::vector<std::string>& environment)> before_program;
};

constexpr int kKeptFd = 3;
constexpr int kInheritedFd = 4;

// Returns at once: what the new process does before its program runs (opening files, changing
// directory) happens in a copy of our memory and may take as long as it likes. The program has 0, 1
// and 2 and no other descriptor, unless one is inherited. What fails is written to its standard
// error, and errno is its exit code.
Result<pid_t> spawn(const ProcessSpec& spec);

// Writes to a descriptor that can block (a full pipe, a dead file server). A separate process
// writes, and is killed if it takes longer than `most`; the caller must reap it then.
void write_in_time(int fd, std::string_view text, std::chrono::milliseconds most);

// Cheap from a big process, for a helper of our own: own session, no signals blocked, `fds` as
// descriptors 3, 4, ... and no others, and standard input, output and error from ours.
Result<pid_t> spawn_helper(const std::string& program, const std::vector<std::string>& argv,
                           const std::vector<int>& fds);

// The same for a program of the site, with a separate environment: its standard input is empty, and
// its output goes to our standard error.
Result<pid_t> spawn_quiet(const std::vector<std::string>& argv,
                          const std::vector<std::string>& environment);

// This process becomes the program, which is looked up in PATH. Returns only if it cannot.
Error replace_program(const std::vector<std::string>& argv);

// The wait status of a child, or nothing if it still runs then.
std::optional<int> wait_for_exit(pid_t pid, std::chrono::milliseconds most);

// As execvp would find it in `path`, seen from `directory`; the name itself when it is nowhere.
std::string find_program(const std::string& name, const std::string& path,
                         const std::string& directory);

std::optional<int> limit_number(const std::string& name);  // "NOFILE" -> RLIMIT_NOFILE

// "[2026-11-15T19:59:57.392] error: text\n": a line of the supervisor in the job's output.
std::string supervisor_line(const std::string& text);

// ---- what is left of a job

// From now on orphans among our descendants become our children, so that waiting for ECHILD means
// that nothing is left.
void adopt_orphans();
std::vector<pid_t> descendants(pid_t root);  // without root itself
bool handles(pid_t pid, int signal);         // it has a handler of its own for it

}  // namespace sluice
