#include "agent/private_dirs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"
#include "os/private_directories.h"

namespace sluice {

namespace {

constexpr std::string_view kMemory = "/dev/shm";  // is in memory, also if it is private

// "/dev/shm" -> "_dev_shm"
std::string name_for(std::string_view path) {
    std::string name(path);
    for (char& c : name) c = c == '/' ? '_' : c;
    return name;
}

std::string base_of(const Site& site) {
    if (!site.container) return "";
    return fmt::format("{}/private_{}_{}",
                       expand_node_path(site.container->base_path, site.node.name, site.hostname),
                       site.node.name, site.node.port);
}

void unmount_below(const std::string& job) {
    unmount(fmt::format("{}/{}", job, name_for(kMemory)));
}

// As /tmp is: what root makes in it stays where it is.
Result<void> make_one(const std::string& path, bool in_memory) {
    if (mkdir(path.c_str(), S_IRWXU) != 0) {
        if (errno == EEXIST) return {};  // of an earlier step
        return os_error(path);
    }
    if (in_memory) return mount_memory(path);
    if (chmod(path.c_str(), S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO) != 0) return os_error(path);
    return {};
}

// Where the scratch directory is seen if it is below a private one: the rest of its path, or
// nothing.
std::string rest_below(std::string_view directory, const std::string& scratch) {
    const std::string start = fmt::format("{}/", directory);
    return scratch.starts_with(start) ? scratch.substr(start.size()) : "";
}

}  // namespace

PrivateDirs::PrivateDirs(const Site& site) : base_(base_of(site)), jobs_(base_, unmount_below) {}

// The directory of the job is root's: its user cannot replace those below it.
Result<void> PrivateDirs::make(const Site& site, const JobKey& job) {
    if (base_.empty() || !site.container) return {};
    TRY(jobs_.make(job, geteuid(), getegid()));
    for (const std::string_view path : split(site.container->dirs, ',')) {
        const std::string own = fmt::format("{}/{}", scratch_path(base_, job), name_for(path));
        TRY(as(ErrorCode::NodeUnable, make_one(own, path == kMemory)));
        const std::string rest = rest_below(path, scratch_path(site.scratch, job));
        if (rest.empty()) continue;
        TRY(as(ErrorCode::NodeUnable, make_directories(fmt::format("{}/{}", own, rest))));
    }
    return {};
}

std::vector<PrivateDirectory> private_directories(const Site& site, const JobKey& job) {
    std::vector<PrivateDirectory> found;
    const std::string base = base_of(site);
    if (base.empty()) return found;
    const std::string scratch = scratch_path(site.scratch, job);
    for (const std::string_view path : split(site.container->dirs, ',')) {
        const std::string own = fmt::format("{}/{}", scratch_path(base, job), name_for(path));
        const std::string rest = rest_below(path, scratch);
        if (!rest.empty()) found.push_back({scratch, fmt::format("{}/{}", own, rest)});
        found.push_back({own, std::string(path)});
    }
    return found;
}

void add_directories(std::vector<std::string>& argv,
                     const std::vector<PrivateDirectory>& directories, bool shared) {
    argv.insert(argv.end(), {"mounts", shared ? "shared" : "own"});
    for (const PrivateDirectory& each : directories)
        argv.insert(argv.end(), {"show", each.source, each.path});
}

void PrivateDirs::describe(const Site& site, const JobKey& job, wire::StepOrder& order) const {
    if (base_.empty() || !site.container) return;
    for (const PrivateDirectory& each : private_directories(site, job)) {
        wire::PrivateDirectory& added = *order.add_private_dirs();
        added.set_source(each.source);
        added.set_path(each.path);
    }
    order.set_shared_mounts(site.container->shared);
}

void PrivateDirs::remove(const JobKey& job) {
    if (!base_.empty()) jobs_.remove(job);
}

void PrivateDirs::keep_only(const std::set<JobKey>& jobs) {
    if (!base_.empty()) jobs_.keep_only(jobs);
}

}  // namespace sluice
