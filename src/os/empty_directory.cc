#include "os/empty_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "os/error.h"
#include "os/fd.h"

namespace sluice {

namespace {

void for_each_entry(int directory, const std::function<void(const char*)>& use) {
    // A descriptor of its own: the position of a duplicate would be shared.
    const int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* stream = own < 0 ? nullptr : fdopendir(own);
    if (!stream) {
        if (own >= 0) close(own);
        return;
    }
    while (const dirent* entry = readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") use(entry->d_name);
    }
    closedir(stream);
}

enum class Removed { Yes, NotEmpty, No };

// A mount point is EBUSY for rmdir(), also when something is in it: what is NotEmpty is none.
Removed remove_entry(int directory, const char* name) {
    if (unlinkat(directory, name, 0) == 0) return Removed::Yes;
    if (errno != EISDIR && errno != EPERM) return Removed::No;
    if (unlinkat(directory, name, AT_REMOVEDIR) == 0) return Removed::Yes;
    return errno == ENOTEMPTY || errno == EEXIST ? Removed::NotEmpty : Removed::No;
}

// Where slurmd is not root, a directory without permissions can be changed by its owner only.
Fd open_for_removal(int directory, const char* name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd opened(openat(directory, name, kFlags));
    if (!opened && errno == EACCES &&
        fchmodat(directory, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0) {
        opened = Fd(openat(directory, name, kFlags));
    }
    if (opened && geteuid() != 0) (void)fchmod(opened.get(), S_IRWXU);
    return opened;
}

class Emptying {
public:
    explicit Emptying(int directory) : directory_(directory) {}

    Result<void> run() {
        do {
            problem_.clear();
            progress_ = false;
            for_each_entry(directory_, [this](const char* name) { remove(name); });
        } while (progress_);
        if (problem_.empty()) return {};
        return Error{ErrorCode{}, problem_};
    }

private:
    void remove(const char* name) {
        const Removed removed = remove_entry(directory_, name);
        if (removed == Removed::No) return note_problem(name);
        progress_ = progress_ || removed == Removed::Yes;
        if (removed == Removed::Yes) return;
        const Fd below = open_for_removal(directory_, name);
        if (!below) return note_problem(name);
        for_each_entry(below.get(), [&](const char* child) { remove_or_move(below.get(), child); });
    }

    void remove_or_move(int below, const char* child) {
        const Removed removed = remove_entry(below, child);
        if (removed == Removed::Yes || (removed == Removed::NotEmpty && move_up(below, child))) {
            progress_ = true;
        } else {
            note_problem(child);
        }
    }

    bool move_up(int below, const char* child) {
        for (;;) {
            const std::string name = fmt::format("below.{}", next_++);
            if (renameat2(below, child, directory_, name.c_str(), RENAME_NOREPLACE) == 0)
                return true;
            if (errno == EEXIST) continue;
            // To move a directory changes its "..".
            if (errno != EACCES || !open_for_removal(below, child)) return false;
            return renameat2(below, child, directory_, name.c_str(), RENAME_NOREPLACE) == 0;
        }
    }

    void note_problem(const char* name) {
        if (errno == ENOENT || !problem_.empty()) return;
        problem_ = fmt::format("{}: {}", name, os_error("remove").detail);
    }

    int directory_;
    bool progress_ = false;
    std::string problem_;
    std::uint64_t next_ = 0;
};

}  // namespace

Result<void> empty_directory(int directory) {
    return Emptying(directory).run();
}

}  // namespace sluice
