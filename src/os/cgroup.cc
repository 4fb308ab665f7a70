#include "os/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "os/cgroup_kill.h"
#include "os/device_filter.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

bool is_v2(const std::string& mountpoint) {
    struct statfs status {};
    return statfs(mountpoint.c_str(), &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC;
}

constexpr const char* kV1Controllers[] = {"freezer", "memory", "cpuset", "devices"};

std::string v2_top(const CgroupPlace& place) {
    if (!place.delegated.empty()) {
        return fmt::format("{}{}/{}", place.mountpoint, place.delegated, place.top);
    }
    return fmt::format("{}/system.slice/{}.scope", place.mountpoint, place.top);
}

std::string v1_top(const CgroupPlace& place, std::string_view controller) {
    return fmt::format("{}/{}/{}", place.mountpoint, controller, place.top);
}

std::string job_directory(const CgroupPlace& place, std::string_view controller) {
    if (controller.empty()) return fmt::format("{}/job_{}", v2_top(place), place.job);
    return fmt::format("{}/uid_{}/job_{}", v1_top(place, controller), place.uid, place.job);
}

std::string step_directory(const CgroupPlace& place, std::string_view controller) {
    return fmt::format("{}/step_{}", job_directory(place, controller), place.step);
}

Result<void> set(const std::string& file, std::string_view value) {
    if (write_to(file, value)) return {};
    return os_error(fmt::format("cannot write {} to {}", value, file));
}

// A new cpuset is empty, and no process can enter it before it has CPUs and memory nodes.
Result<void> inherit_cpuset(const std::string& directory, const std::string& controller_root) {
    if (directory.size() <= controller_root.size()) return {};
    const std::string cpus = TRY(read_file(directory + "/cpuset.cpus"));
    if (!trim(cpus).empty()) return {};
    std::string parent = directory_of(directory);
    TRY(inherit_cpuset(parent, controller_root));
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"}) {
        const std::string value = TRY(read_file(parent + file));
        TRY(set(directory + file, trim(value)));
    }
    return {};
}

// With these CPUs, or those of its parent. It never has more in between: a cpuset cannot have fewer
// CPUs than one below it, so that another supervisor could not limit the job meanwhile.
Result<void> fill_cpuset(const std::string& directory, const std::string& controller_root,
                         const std::string& cpus) {
    if (cpus.empty()) return inherit_cpuset(directory, controller_root);
    const std::string parent = directory_of(directory);
    TRY(inherit_cpuset(parent, controller_root));
    const std::string nodes = TRY(read_file(parent + "/cpuset.mems"));
    TRY(set(directory + "/cpuset.mems", trim(nodes)));
    return set(directory + "/cpuset.cpus", cpus);
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::string_view each : words(text)) {
        if (each == word) return true;
    }
    return false;
}

// Each controller by itself: a write of several is refused as a whole if one is not available.
Result<void> enable_v2_controller(const std::string& directory, std::string_view controller) {
    const std::string file = directory + "/cgroup.subtree_control";
    const std::string enabled = TRY(read_file(file));
    if (has_word(enabled, controller)) return {};
    const std::string available = TRY(read_file(directory + "/cgroup.controllers"));
    if (!has_word(available, controller)) {
        return Error{ErrorCode{}, fmt::format("controller {} is not in {}/cgroup.controllers",
                                              controller, directory)};
    }
    return set(file, fmt::format("+{}", controller));
}

bool counts_memory(const CgroupLimits& limits) {
    return limits.job_memory || limits.step_memory || limits.count_memory;
}

// Only the controllers that are asked for: each costs something in every fork and page fault.
Result<void> enable_v2_controllers(const CgroupPlace& place, const CgroupLimits& limits) {
    std::vector<std::string> directories;
    if (place.delegated.empty()) directories.push_back(place.mountpoint);
    for (const std::string& each :
         {directory_of(v2_top(place)), v2_top(place), job_directory(place, "")}) {
        directories.push_back(each);
    }
    for (const std::string& each : directories) {
        if (counts_memory(limits)) TRY(enable_v2_controller(each, "memory"));
        if (!limits.step_cpus.empty()) TRY(enable_v2_controller(each, "cpuset"));
    }
    return {};
}

Result<void> limit_memory(CgroupVersion version, const std::string& directory,
                          const std::optional<MemoryLimit>& limit) {
    if (!limit) return {};
    const bool v2 = version == CgroupVersion::V2;
    TRY(set(directory + (v2 ? "/memory.max" : "/memory.limit_in_bytes"),
            fmt::format("{}", limit->bytes)));
    if (!limit->swap) return {};
    // Version 1 counts memory and swap together.
    return v2 ? set(directory + "/memory.swap.max", fmt::format("{}", *limit->swap))
              : set(directory + "/memory.memsw.limit_in_bytes",
                    fmt::format("{}", limit->bytes + *limit->swap));
}

// Version 2 has none of cgroups.
Result<void> set_swappiness(const std::string& job, const std::string& step,
                            const CgroupLimits& limits) {
    if (!limits.swappiness) return {};
    for (const std::string& directory : {job, step}) {
        TRY(set(directory + "/memory.swappiness", fmt::format("{}", *limits.swappiness)));
    }
    return {};
}

Result<void> deny_devices(CgroupVersion version, const std::string& directory,
                          const std::vector<std::string>& files) {
    if (files.empty()) return {};
    const std::vector<DeviceNumber> devices = TRY(device_numbers(files));
    if (version == CgroupVersion::V2) return attach_device_filter(directory, devices);
    for (const DeviceNumber& device : devices) {
        TRY(set(directory + "/devices.deny",
                fmt::format("{} {}:{} rwm", device.block ? 'b' : 'c', device.major, device.minor)));
    }
    return {};
}

Result<void> limit_cpus(const std::string& job, const std::string& step,
                        const CgroupLimits& limits) {
    if (!limits.job_cpus.empty()) TRY(set(job + "/cpuset.cpus", limits.job_cpus));
    if (!limits.step_cpus.empty()) TRY(set(step + "/cpuset.cpus", limits.step_cpus));
    return {};
}

std::vector<std::string> v1_controllers(const CgroupLimits& limits) {
    std::vector<std::string> controllers = {"freezer"};
    if (counts_memory(limits)) controllers.push_back("memory");
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

std::string delegated_cgroup(const std::string& mountpoint) {
    constexpr std::string_view kV2 = "0::";
    Result<std::string> own = read_file("/proc/self/cgroup");
    if (!own || !is_v2(mountpoint)) return {};
    for (std::string_view line : split(*own, '\n')) {
        if (!line.starts_with(kV2)) continue;
        std::string parent = directory_of(line.substr(kV2.size()));
        char flag = '0';  // systemd marks what it delegates
        const bool is_marked =
            getxattr((mountpoint + parent).c_str(), "trusted.delegate", &flag, 1) == 1;
        return parent != "/" && is_marked && flag == '1' ? parent : std::string();
    }
    return {};
}

// The directories of the step and its job, with their limits, in one controller (v1) or in all.
Result<void> Cgroup::add(const CgroupPlace& place, const CgroupLimits& limits,
                         const std::string& controller) {
    const bool v2 = version_ == CgroupVersion::V2;
    std::string job = job_directory(place, controller), step = step_directory(place, controller);
    // The last step of the job to end may remove the job's directory between two mkdir().
    if (!make_directories(step)) TRY(make_directories(step));
    directories_.push_back(step);
    job_directories_.push_back(job);
    if (v2) TRY(enable_v2_controllers(place, limits));
    if (v2) TRY(limit_cpus(job, step, limits));
    if (controller == "cpuset") {
        const std::string root = place.mountpoint + "/cpuset";
        TRY(fill_cpuset(job, root, limits.job_cpus));
        TRY(fill_cpuset(step, root, limits.step_cpus));
    }
    if (v2 || controller == "memory") {
        TRY(limit_memory(version_, job, limits.job_memory));
        TRY(limit_memory(version_, step, limits.step_memory));
        if (!v2) TRY(set_swappiness(job, step, limits));
        if (counts_memory(limits)) memory_ = step;
        if (limits.oom_kills_all && v2 && counts_memory(limits)) {
            TRY(set(step + "/memory.oom.group", "1"));
        }
    }
    if (v2 || controller == "devices") TRY(deny_devices(version_, step, limits.devices_denied));
    if (v2 || controller == "freezer") tracking_ = step;
    const std::string procs = step + "/cgroup.procs";
    entries_.emplace_back(open(procs.c_str(), O_RDWR | O_CLOEXEC));
    if (!entries_.back()) return os_error(procs);
    return {};
}

Result<Cgroup> Cgroup::create(const CgroupPlace& place, const CgroupLimits& limits) {
    Cgroup cgroup;
    cgroup.version_ = is_v2(place.mountpoint) ? CgroupVersion::V2 : CgroupVersion::V1;
    const bool v1 = cgroup.version_ == CgroupVersion::V1;
    for (const std::string& controller :
         v1 ? v1_controllers(limits) : std::vector<std::string>{""}) {
        if (Result<void> added = cgroup.add(place, limits, controller); !added) {
            cgroup.remove();
            return added.error();
        }
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

std::uint64_t Cgroup::memory_used() const {
    if (memory_.empty()) return 0;
    return named_number_in(memory_ + "/memory.stat",
                           version_ == CgroupVersion::V2 ? "anon" : "total_rss");
}

std::uint64_t Cgroup::cpu_us() const {
    if (version_ != CgroupVersion::V2) return 0;
    return named_number_in(tracking_ + "/cpu.stat", "usage_usec");
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

// In the branches of all users: the caller knows the job, but not always its user.
std::vector<std::string> step_directories(const CgroupPlace& place) {
    if (is_v2(place.mountpoint)) return {step_directory(place, "")};
    std::vector<std::string> found;
    for (const char* controller : kV1Controllers) {
        const std::string top = v1_top(place, controller);
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

Result<void> move_into_cgroup(const CgroupPlace& place, pid_t pid) {
    bool is_moved = false;
    for (const std::string& directory : step_directories(place)) {
        const std::string procs = directory + "/cgroup.procs";
        if (access(procs.c_str(), F_OK) != 0) continue;
        TRY(set(procs, fmt::format("{}", pid)));
        is_moved = true;
    }
    if (is_moved) return {};
    return Error{ErrorCode{},
                 fmt::format("step {} of job {} has no cgroup", place.step, place.job)};
}

void remove_empty_cgroups(const CgroupPlace& place) {
    if (is_v2(place.mountpoint)) {
        rmdir(v2_top(place).c_str());
        return;
    }
    for (const char* controller : kV1Controllers) {
        const std::string top = v1_top(place, controller);
        for (const std::string& user : list_directory(top)) rmdir((top + "/" + user).c_str());
        rmdir(top.c_str());
    }
}

}  // namespace sluice
