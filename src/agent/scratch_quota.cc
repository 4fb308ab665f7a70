#include "agent/scratch_quota.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>

#include "base/log.h"
#include "os/walk.h"

namespace sluice {

namespace {

constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;

struct Use {
    JobKey job;
    std::uint64_t bytes = 0;
};

// Files with several names count once. Files of --stage-in, which belong to slurmd and are shared
// with the cache, do not count, and neither does a directory that cannot be read.
std::uint64_t bytes_in(const std::string& directory) {
    struct stat top {};
    if (stat(directory.c_str(), &top) != 0) return 0;
    std::uint64_t bytes = 0;
    std::set<std::uint64_t> counted;
    const WalkOptions options{
        .threads = 1, .one_file_system = true, .on_unreadable = [](const Error&) {}};
    (void)walk_tree(directory, options, [&](const TreeEntry& each) {
        const bool is_again = each.kind != TreeEntry::Kind::Directory && each.links > 1 &&
                              !counted.insert(each.inode).second;
        if (!is_again && each.owner == top.st_uid) bytes += each.disk_bytes;
    });
    return bytes;
}

std::vector<Use> measure_all(const std::string& base, const std::vector<JobKey>& jobs) {
    std::vector<Use> uses;
    for (const JobKey& job : jobs) uses.push_back({job, bytes_in(scratch_path(base, job))});
    return uses;
}

}  // namespace

void ScratchQuota::replace_site(std::shared_ptr<const Site> site) {
    site_ = std::move(site);
    if (site_->config.scratch_quota && !is_measuring_) measure_later();
}

void ScratchQuota::measure_later() {
    is_measuring_ = true;
    loop_.after(interval_, [this] { measure(); });
}

void ScratchQuota::measure() {
    is_measuring_ = false;
    if (!site_->config.scratch_quota) return;
    const bool is_accepted = slow_work_.run(
        [base = site_->scratch, jobs = jobs_.going_on()] { return measure_all(base, jobs); },
        [this](const std::vector<Use>& uses) {
            measure_later();
            if (!site_->config.scratch_quota) return;
            const std::uint64_t most = *site_->config.scratch_quota;
            for (const Use& use : uses) {
                if (use.bytes <= most * kMegabyte) continue;
                jobs_.end_for_data(use.job, fmt::format("{} MB in $SCRATCH on {}, ScratchQuota is "
                                                        "{} MB",
                                                        (use.bytes + kMegabyte - 1) / kMegabyte,
                                                        site_->node.name, most));
            }
        });
    is_measuring_ = true;
    if (!is_accepted) measure_later();
}

}  // namespace sluice
