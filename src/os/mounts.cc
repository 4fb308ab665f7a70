#include "os/mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/text.h"
#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"

namespace sluice {

namespace {

// The kernel writes a blank as \040.
std::string unescape(std::string_view text) {
    constexpr std::size_t kDigits = 3;
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + kDigits >= text.size()) {
            result += text[i];
            continue;
        }
        int value = 0;
        for (std::size_t digit = 1; digit <= kDigits; ++digit)
            value = value * 8 + (text[i + digit] - '0');
        result += static_cast<char>(value);
        i += kDigits;
    }
    return result;
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
    if (!path.starts_with(directory)) return false;
    return path.size() == directory.size() || path[directory.size()] == '/';
}

std::string path_of(int directory) {
    char path[PATH_MAX];
    const std::string link = fmt::format("/proc/self/fd/{}", directory);
    const ssize_t size = readlink(link.c_str(), path, sizeof path);
    return size <= 0 ? std::string() : std::string(path, static_cast<std::size_t>(size));
}

// By its components, none of which may be a symbolic link.
Fd open_below(int directory, std::string_view path) {
    Fd opened(fcntl(directory, F_DUPFD_CLOEXEC, 0));
    for (std::string_view name : split(path, '/')) {
        if (!opened || name.empty()) continue;
        opened =
            Fd(openat(opened.get(), std::string(name).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    }
    return opened;
}

}  // namespace

std::vector<std::string> mounts_below(std::string_view mountinfo, std::string_view path) {
    constexpr std::size_t kMountPoint = 4;  // the field of a line
    std::vector<std::string> found;
    for (std::string_view line : split(mountinfo, '\n')) {
        const std::vector<std::string_view> fields = words(line);
        if (fields.size() <= kMountPoint) continue;
        std::string point = unescape(fields[kMountPoint]);
        if (is_at_or_below(point, path)) found.push_back(std::move(point));
    }
    return found;
}

Result<void> detach_mounts(int directory, const std::string& entry) {
    const std::string base = path_of(directory);
    if (base.empty()) return os_error(entry);
    const std::string mountinfo = TRY(read_file("/proc/self/mountinfo"));
    std::vector<std::string> points =
        mounts_below(mountinfo, entry.empty() ? base : fmt::format("{}/{}", base, entry));
    std::reverse(points.begin(), points.end());
    Result<void> result;
    for (const std::string& point : points) {
        const Fd opened = open_below(directory, std::string_view(point).substr(base.size()));
        const std::string path = fmt::format("/proc/self/fd/{}", opened ? opened.get() : -1);
        if (opened && umount2(path.c_str(), MNT_DETACH) == 0) continue;
        if (result) result = os_error(point);
    }
    return result;
}

}  // namespace sluice
