#include "os/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"
#include "os/cgroup_kill.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

bool is_v2(const std::string& mountpoint) {
    struct statfs status {};
    return statfs(mountpoint.c_str(), &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC;
}

std::string v2_top(const CgroupPlace& place) {
    return fmt::format("{}/system.slice/{}.scope", place.mountpoint, place.top);
}

std::string job_directory(const CgroupPlace& place, std::string_view controller) {
    if (controller.empty()) return fmt::format("{}/job_{}", v2_top(place), place.job);
    return fmt::format("{}/{}/{}/uid_{}/job_{}", place.mountpoint, controller, place.top, place.uid,
                       place.job);
}

std::string step_directory(const CgroupPlace& place, std::string_view controller) {
    return fmt::format("{}/step_{}", job_directory(place, controller), place.step);
}

// A new cpuset is empty, and nobody may enter it before it has CPUs and memory nodes.
void inherit_cpuset(const std::string& directory, const std::string& controller_root) {
    if (directory.size() <= controller_root.size()) return;
    Result<std::string> cpus = read_file(directory + "/cpuset.cpus");
    if (cpus && !trim(*cpus).empty()) return;
    std::string parent = directory_of(directory);
    inherit_cpuset(parent, controller_root);
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"}) {
        if (Result<std::string> value = read_file(parent + file)) {
            write_to(directory + file, trim(*value));
        }
    }
}

// Only the controllers that are asked for: each costs something in every fork and page fault.
void enable_v2_controllers(const CgroupPlace& place, const CgroupLimits& limits) {
    std::string wanted;
    if (limits.job_memory || limits.step_memory) wanted += "+memory ";
    if (!limits.step_cpus.empty()) wanted += "+cpuset ";
    if (wanted.empty()) return;
    for (const std::string& each :
         {place.mountpoint, directory_of(v2_top(place)), v2_top(place), job_directory(place, "")}) {
        write_to(each + "/cgroup.subtree_control", wanted);
    }
}

void limit_memory(CgroupVersion version, const std::string& directory,
                  std::optional<std::uint64_t> memory, std::optional<std::uint64_t> swap) {
    if (!memory) return;
    if (version == CgroupVersion::V2) {
        write_to(directory + "/memory.max", fmt::format("{}", *memory));
        if (swap) write_to(directory + "/memory.swap.max", fmt::format("{}", *swap));
    } else {
        write_to(directory + "/memory.limit_in_bytes", fmt::format("{}", *memory));
        if (swap) {
            write_to(directory + "/memory.memsw.limit_in_bytes",
                     fmt::format("{}", *memory + *swap));
        }
    }
}

void deny_devices(const std::string& directory, const std::vector<std::string>& files) {
    for (const std::string& file : files) {
        struct stat status {};
        if (stat(file.c_str(), &status) != 0) continue;
        if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) continue;
        write_to(directory + "/devices.deny",
                 fmt::format("{} {}:{} rwm", S_ISCHR(status.st_mode) ? 'c' : 'b',
                             major(status.st_rdev), minor(status.st_rdev)));
    }
}

std::vector<std::string> v1_controllers(const CgroupLimits& limits) {
    std::vector<std::string> controllers = {"freezer"};
    if (limits.job_memory || limits.step_memory) controllers.push_back("memory");
    if (!limits.step_cpus.empty()) controllers.push_back("cpuset");
    if (!limits.devices_denied.empty()) controllers.push_back("devices");
    return controllers;
}

std::uint64_t number_in(const std::string& path) {
    Result<std::string> text = read_file(path);
    return text ? to_number(trim(*text)).value_or(0) : 0;
}

std::uint64_t named_number_in(const std::string& path, std::string_view name) {
    Result<std::string> text = read_file(path);
    if (!text) return 0;
    for (std::string_view line : split(*text, '\n')) {
        std::vector<std::string_view> pair = words(line);
        if (pair.size() == 2 && pair[0] == name) return to_number(pair[1]).value_or(0);
    }
    return 0;
}

}  // namespace

CgroupVersion detect_cgroups(const std::string& mountpoint) {
    if (is_v2(mountpoint)) {
        return access((mountpoint + "/cgroup.procs").c_str(), W_OK) == 0 ? CgroupVersion::V2
                                                                         : CgroupVersion::None;
    }
    return access((mountpoint + "/freezer/cgroup.procs").c_str(), W_OK) == 0 ? CgroupVersion::V1
                                                                             : CgroupVersion::None;
}

Result<Cgroup> Cgroup::create(const CgroupPlace& place, const CgroupLimits& limits) {
    Cgroup cgroup;
    cgroup.version_ = is_v2(place.mountpoint) ? CgroupVersion::V2 : CgroupVersion::V1;
    bool v1 = cgroup.version_ == CgroupVersion::V1;
    for (const std::string& controller :
         v1 ? v1_controllers(limits) : std::vector<std::string>{""}) {
        std::string job = job_directory(place, controller),
                    step = step_directory(place, controller);
        if (Result<void> made = make_directories(step); !made) return made.error();
        if (!v1) enable_v2_controllers(place, limits);
        if (controller == "cpuset") inherit_cpuset(step, place.mountpoint + "/cpuset");
        if (!v1 || controller == "cpuset") {
            if (!limits.job_cpus.empty()) write_to(job + "/cpuset.cpus", limits.job_cpus);
            if (!limits.step_cpus.empty()) write_to(step + "/cpuset.cpus", limits.step_cpus);
        }
        if (!v1 || controller == "memory") {
            limit_memory(cgroup.version_, job, limits.job_memory, limits.swap);
            limit_memory(cgroup.version_, step, limits.step_memory, limits.swap);
            if (limits.job_memory || limits.step_memory) cgroup.memory_ = step;
        }
        if (controller == "devices") deny_devices(step, limits.devices_denied);
        if (controller.empty() || controller == "freezer") cgroup.tracking_ = step;
        std::string procs = step + "/cgroup.procs";
        cgroup.entries_.emplace_back(open(procs.c_str(), O_RDWR | O_CLOEXEC));
        if (!cgroup.entries_.back()) return os_error(procs);
        cgroup.directories_.push_back(step);
        cgroup.job_directories_.push_back(job);
    }
    return cgroup;
}

std::vector<int> Cgroup::entries() const {
    std::vector<int> fds;
    for (const Fd& fd : entries_) fds.push_back(fd.get());
    return fds;
}

std::uint64_t Cgroup::oom_kills() const {
    if (memory_.empty()) return 0;
    return named_number_in(
        memory_ + (version_ == CgroupVersion::V2 ? "/memory.events" : "/memory.oom_control"),
        "oom_kill");
}

std::uint64_t Cgroup::memory_peak() const {
    if (memory_.empty()) return 0;
    return number_in(
        memory_ + (version_ == CgroupVersion::V2 ? "/memory.peak" : "/memory.max_usage_in_bytes"));
}

bool Cgroup::remove() {
    for (const std::string& directory : directories_) {
        if (!remove_cgroup(directory)) return false;
    }
    // Other steps of the job may still be inside: then this fails, as it should.
    for (const std::string& directory : job_directories_) rmdir(directory.c_str());
    return true;
}

namespace {

// In every user's branch: whoever asks knows the job, not always its user.
std::vector<std::string> step_directories(const CgroupPlace& place) {
    if (is_v2(place.mountpoint)) return {step_directory(place, "")};
    std::vector<std::string> found;
    for (const char* controller : {"freezer", "memory", "cpuset", "devices"}) {
        std::string top = fmt::format("{}/{}/{}", place.mountpoint, controller, place.top);
        for (const std::string& user : list_directory(top)) {
            if (!user.starts_with("uid_")) continue;
            found.push_back(fmt::format("{}/{}/job_{}/step_{}", top, user, place.job, place.step));
        }
    }
    return found;
}

}  // namespace

bool kill_leftovers(const CgroupPlace& place) {
    bool gone = true;
    for (const std::string& directory : step_directories(place)) {
        if (access(directory.c_str(), F_OK) != 0) continue;
        kill_cgroup(directory);
        const bool removed = remove_cgroup(directory);
        if (removed) rmdir(directory_of(directory).c_str());
        gone = gone && removed;
    }
    return gone;
}

}  // namespace sluice
