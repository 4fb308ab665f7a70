#include "os/private_directories.h"

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>

#include "os/error.h"

namespace sluice {

Result<void> enter_private_directories(const std::vector<PrivateDirectory>& directories,
                                       bool shared) {
    if (unshare(CLONE_NEWNS) != 0) return os_error("unshare");
    // Nothing that is mounted here appears on the machine.
    if (mount(nullptr, "/", nullptr, MS_REC | (shared ? MS_SLAVE : MS_PRIVATE), nullptr) != 0) {
        return os_error("mount /");
    }
    for (const PrivateDirectory& each : directories) {
        if (mount(each.source.c_str(), each.path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
            return os_error(fmt::format("mount {} at {}", each.source, each.path));
    }
    return {};
}

Result<void> mount_memory(const std::string& path) {
    if (mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
        return os_error(path);
    }
    return {};
}

void unmount(const std::string& path) {
    (void)umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

}  // namespace sluice
