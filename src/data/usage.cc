#include "data/usage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <set>

#include "os/error.h"
#include "os/files.h"
#include "os/walk.h"

namespace sluice::data {

Result<UsageReport> disk_usage(const std::string& directory, unsigned threads) {
    UsageReport report;
    std::set<std::pair<std::uint64_t, std::uint64_t>> counted;  // files with several names
    std::mutex mutex;
    const auto leave_out = [&](const Error& error) {
        const std::lock_guard guard(mutex);
        report.unreadable.push_back(error.detail);
    };
    const WalkOptions options{
        .threads = threads, .one_file_system = true, .on_unreadable = leave_out};
    TRY(walk_tree(directory, options, [&](TreeEntry entry) {
        const std::lock_guard guard(mutex);
        const bool is_directory = entry.kind == TreeEntry::Kind::Directory;
        if (!is_directory && entry.links > 1 && !counted.emplace(entry.device, entry.inode).second)
            return;
        const std::size_t slash = entry.path.find('/');
        auto add = [&](DiskUsage& usage) {
            usage.bytes += entry.disk_bytes;
            usage.files += is_directory ? 0 : 1;
        };
        add(report.all);
        if (is_directory || slash != std::string::npos)
            add(report.below[entry.path.substr(0, slash)]);
    }));
    std::sort(report.unreadable.begin(), report.unreadable.end());
    return report;
}

std::string print_size(std::uint64_t bytes) {
    constexpr std::string_view kUnits = "KMGTPE";
    double size = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
    return fmt::format("{:.1f}{}", std::ceil(size * 10) / 10, kUnits[unit]);  // Compat: du -h
}

std::string usage_file(const DiskUsage& usage, const std::string& updated) {
    return fmt::format("Updated: {}\nUsage (human-readable):  {}\nUsage (K): {}\n", updated,
                       print_size(usage.bytes), (usage.bytes + 1023) / 1024);
}

Result<void> write_usage_file(const Below& top, const std::string& name, const std::string& text) {
    constexpr const char* kNew = ".disk-usage.txt.new";
    const std::string path = name.empty() ? kUsageName : fmt::format("{}/{}", name, kUsageName);
    const Fd directory = TRY(top.parent(path, false));
    (void)unlinkat(directory.get(), kNew, 0);  // of an earlier call that was killed
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const Fd file(openat(directory.get(), kNew, kFlags, 0644));
    if (!file) return os_error(top.full(path));
    if (write_all(file.get(), text) &&
        renameat(directory.get(), kNew, directory.get(), kUsageName) == 0)
        return {};
    const Error failed = os_error(top.full(path));
    (void)unlinkat(directory.get(), kNew, 0);
    return failed;
}

}  // namespace sluice::data
