// os/quota.cc: see quota.h.
#include "os/quota.h"

#include <sys/quota.h>
#include <sys/statvfs.h>

#include <fstream>
#include <sstream>

namespace sluice {

namespace {

constexpr std::uint64_t kQuotaBlock = 1024;

// The device of the file system that has the path; empty: unknown.
std::string device_of(const std::string& path) {
    std::ifstream mounts("/proc/self/mounts");
    std::string device;
    std::size_t longest = 0;
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string source, place;
        words >> source >> place;
        const bool holds = place == "/" || path == place || path.starts_with(place + "/");
        if (!holds || place.size() < longest) continue;
        longest = place.size();
        device = source;
    }
    return device;
}

}  // namespace

std::optional<SpaceFacts> space_of(const std::string& path) {
    struct statvfs facts {};
    if (statvfs(path.c_str(), &facts) != 0) return {};
    return SpaceFacts{.free = facts.f_bavail * facts.f_frsize,
                      .total = facts.f_blocks * facts.f_frsize,
                      .files_free = facts.f_favail,
                      .files_total = facts.f_files};
}

std::optional<QuotaFacts> quota_of(const std::string& path, uid_t user) {
    const std::string device = device_of(path);
    struct dqblk facts {};
    if (device.empty() || quotactl(QCMD(Q_GETQUOTA, USRQUOTA), device.c_str(),
                                   static_cast<int>(user), reinterpret_cast<caddr_t>(&facts)) != 0)
        return {};
    return QuotaFacts{.used = facts.dqb_curspace,
                      .limit = facts.dqb_bhardlimit * kQuotaBlock,
                      .files = facts.dqb_curinodes,
                      .files_limit = facts.dqb_ihardlimit};
}

}  // namespace sluice
