// store/directory_lock.cc
//
// See directory_lock.h.
#include "store/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

Error failed(const std::string& path, int error) {
    return {ErrorCode::StoreFailed, fmt::format("{}: {}", path, strerror(error))};
}

std::string holder(int descriptor) {
    char text[32];
    const ssize_t size = pread(descriptor, text, sizeof text, 0);
    const auto pid =
        to_number(trim(std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0)));
    return pid ? fmt::format("process {}", *pid) : "another process";
}

}  // namespace

Result<DirectoryLock> DirectoryLock::take(const std::string& directory) {
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return failed(directory, errno);
    const std::string path = directory + "/lock";
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return failed(path, errno);
    DirectoryLock lock(descriptor);
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return failed(path, errno);
        return Error{ErrorCode::StoreFailed,
                     fmt::format("StateSaveLocation {} is in use by {}: two controllers cannot "
                                 "share it",
                                 directory, holder(descriptor))};
    }
    const std::string pid = fmt::format("{}\n", getpid());
    if (ftruncate(descriptor, 0) != 0 ||
        pwrite(descriptor, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        return failed(path, errno);
    }
    return lock;
}

DirectoryLock::~DirectoryLock() {
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace sluice
