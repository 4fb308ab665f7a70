// os/cgroup.h
//
// The cgroup of a step: its processes cannot leave it, and all of them can be counted, limited and
// killed. Cgroup v2, or v1 with one tree per controller; trees of unused controllers are not used:
//
//   v1   <mount>/{freezer,memory,cpuset,devices}/<top>/uid_U/job_J/step_S
//   v2   <mount>/system.slice/<top>.scope/job_J/step_S
//        <mount>/<delegated>/<top>/job_J/step_S
//
// A limit that cannot be set is an error that names the file, the value and the kernel's reason.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace sluice {

enum class CgroupVersion { None, V1, V2 };

// What is mounted there, if we may write to it.
CgroupVersion detect_cgroups(const std::string& mountpoint);

// Cgroup v2: the cgroup that systemd has delegated to this service (Delegate=yes), as a path below
// the mountpoint, if this process is in a subgroup of it (DelegateSubgroup=). Empty otherwise: if
// the process were in the delegated cgroup itself, no controller could be enabled there.
std::string delegated_cgroup(const std::string& mountpoint);

struct CgroupPlace {
    std::string mountpoint = "/sys/fs/cgroup";
    std::string delegated;  // v2: see delegated_cgroup(); empty: system.slice
    std::string top;        // "slurm", or "slurm_<node>" where several slurmd share a host
    uid_t uid = 0;
    std::uint32_t job = 0;
    std::string step;  // "0", "batch"
};

struct MemoryLimit {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> swap = {};  // bytes beyond memory; absent: no limit
};

struct CgroupLimits {
    std::optional<MemoryLimit> job_memory = {};  // for all steps of the job on this node together
    std::optional<MemoryLimit> step_memory = {};
    bool count_memory = false;                     // also without a limit
    std::optional<std::uint32_t> swappiness = {};  // of the job; v1
    bool oom_kills_all = false;                    // of the step; v2 only
    std::string job_cpus = {};                     // "0-3,8"; empty: all
    std::string step_cpus = {};
    std::vector<std::string> devices_denied = {};  // device files
};

class Cgroup {
public:
    static Result<Cgroup> create(const CgroupPlace& place, const CgroupLimits& limits);

    // Open cgroup.procs files: a process that writes "0" to each of them joins the cgroup.
    std::vector<int> entries() const;
    // The directory whose processes are the step's (os/cgroup_kill.h).
    const std::string& tracking() const { return tracking_; }
    std::uint64_t oom_kills() const;    // of the memory controller, 0 if not in use
    std::uint64_t memory_peak() const;  // bytes, 0 if unknown
    std::uint64_t memory_used() const;  // bytes without the page cache, now; 0 if unknown
    std::uint64_t cpu_us() const;       // of all its processes; 0 if unknown (v1)
    bool remove();                      // false: something is still inside

private:
    Result<void> add(const CgroupPlace& place, const CgroupLimits& limits,
                     const std::string& controller);

    CgroupVersion version_ = CgroupVersion::None;
    std::string tracking_;                  // the directory whose cgroup.procs is the truth
    std::string memory_;                    // the memory controller's directory, if in use
    std::vector<std::string> directories_;  // this step's
    std::vector<std::string> job_directories_;
    std::vector<Fd> entries_;
};

// What a supervisor that died left behind: every process of the step gets KILL; true once none is
// left and the directories are gone. The place's uid does not matter.
bool kill_leftovers(const CgroupPlace& place);

// Moves a running process, with all its threads, into the cgroup of a step that has been made.
Result<void> move_into_cgroup(const CgroupPlace& place, pid_t pid);

// Removes the directories above those of jobs, as far as no job is left in them.
void remove_empty_cgroups(const CgroupPlace& place);

}  // namespace sluice
