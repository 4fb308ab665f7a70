// auth/key_file.cc
//
// See key_file.h.
#include "auth/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/errors.h"

namespace sluice {

namespace {

class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int get() const { return descriptor_; }

private:
    int descriptor_;
};

Error failed(const KeyFile& file, std::string_view verb) {
    const int error = errno;
    return {error == ENOENT ? ErrorCode::NotFound : ErrorCode::SystemError,
            fmt::format("{}, {}, cannot be {}: {}", file.what, file.path, verb, strerror(error))};
}

Error unfit(const KeyFile& file, std::string_view why) {
    return {ErrorCode::ConfigInvalid, fmt::format("{}, {}, {}", file.what, file.path, why)};
}

Result<void> check_owner(const KeyFile& file, uid_t owner) {
    const bool is_ours = owner == 0 || owner == geteuid();
    if (is_ours || (file.owner && owner == file.owner->value)) return {};
    return unfit(file, fmt::format("belongs to uid {}, which could change it: it must belong to "
                                   "root or SlurmUser",
                                   owner));
}

// A crash of the machine does not take back what was made in a directory that was synced since.
bool sync_directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string directory = slash == path.npos ? "." : path.substr(0, slash + 1);
    const File opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return opened.get() >= 0 && fsync(opened.get()) == 0;
}

bool write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

Result<std::string> read_key(const KeyFile& file) {
    const File opened(open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.get() < 0) return failed(file, "read");
    struct stat facts {};
    if (fstat(opened.get(), &facts) != 0) return failed(file, "read");
    TRY(check_owner(file, facts.st_uid));
    const mode_t forbidden = file.group_may_read ? 0027 : 0077;
    if (facts.st_mode & forbidden) {
        return unfit(file,
                     fmt::format("can be read or changed by others (mode {:04o}): chmod 600 it",
                                 facts.st_mode & 07777));
    }
    std::string key(kKeySizeMax + 1, '\0');
    std::size_t size = 0;
    while (size < key.size()) {
        const ssize_t got = read(opened.get(), key.data() + size, key.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(file, "read");
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    if (size > kKeySizeMax) return unfit(file, fmt::format("is longer than {} bytes", kKeySizeMax));
    if (size < file.size_min) {
        return unfit(file,
                     fmt::format("has {} bytes, at least {} are needed", size, file.size_min));
    }
    key.resize(size);
    return key;
}

Result<void> write_key(const KeyFile& file, const std::string& key) {
    std::string temporary = file.path + ".XXXXXX";
    const File opened(mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
    if (opened.get() < 0) return failed(file, "written");
    const bool written = write_all(opened.get(), key) && fsync(opened.get()) == 0;
    // Not rename: a file that another process made in the meantime stays.
    const bool done =
        written && link(temporary.c_str(), file.path.c_str()) == 0 && sync_directory_of(file.path);
    const Error error = failed(file, "written");
    unlink(temporary.c_str());
    if (!done) return error;
    return {};
}

}  // namespace sluice
