#include "data/usage.h"

#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <set>

#include "os/walk.h"

namespace sluice::data {

Result<UsageReport> disk_usage(const std::string& directory, unsigned threads) {
    UsageReport report;
    std::set<std::pair<std::uint64_t, std::uint64_t>> counted;  // files with several names
    std::mutex mutex;
    TRY(walk_tree(directory, {.threads = threads, .one_file_system = true}, [&](TreeEntry entry) {
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

}  // namespace sluice::data
