#include "stage/job_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "data/parallel.h"
#include "os/error.h"
#include "stage/sparse.h"

namespace sluice::stage {

namespace {

constexpr unsigned kThreads = 4;

class Tree {
public:
    Tree(const Copy& copy, const TreeOwner& owner) : copy_(copy), owner_(owner) {}

    Result<void> make(const std::string& path) {
        if (copy_.listing().is_one_file())
            return give_file(copy_, copy_.listing().entries.front(),
                             {AT_FDCWD, path.c_str(), owner_});
        if (mkdir(path.c_str(), 0755) != 0) return os_error(path);
        top_ = Fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
        if (!top_) return os_error(path);
        const auto& entries = copy_.listing().entries;
        for (const Entry& entry : entries) {
            if (entry.kind() != kFile) TRY(make_other(entry));
        }
        TRY(data::for_all(entries.size(), kThreads, [&](std::size_t i) -> Result<void> {
            if (entries[i].kind() != kFile) return {};
            return give_file(copy_, entries[i], {top_.get(), entries[i].path().c_str(), owner_});
        }));
        return give(top_.get(), "");
    }

private:
    Result<void> make_other(const Entry& entry) const {
        const char* path = entry.path().c_str();
        const int made = entry.kind() == kDirectory
                             ? mkdirat(top_.get(), path, 0755)
                             : symlinkat(entry.target().c_str(), top_.get(), path);
        if (made != 0) return os_error(printable(entry.path()));
        return give(top_.get(), path);
    }

    Result<void> give(int directory, const char* path) const {
        if (geteuid() != 0) return {};
        const int flags = AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH);
        if (fchownat(directory, path, owner_.user, owner_.group, flags) != 0)
            return os_error(printable(path));
        return {};
    }

    const Copy& copy_;
    const TreeOwner owner_;
    Fd top_;
};

}  // namespace

// The copy of a file gets its owner through its descriptor: the directory may be the user's.
Result<void> give_file(const Copy& copy, const Entry& entry, const FilePlace& place) {
    const char* source = name_in_copy(entry);
    if (linkat(copy.data(), source, place.directory, place.path, 0) == 0) return {};
    const std::string name = printable(place.path);
    if (errno != EXDEV && errno != EMLINK && errno != EPERM) return os_error(name);
    const Fd from(openat(copy.data(), source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const Fd to(openat(place.directory, place.path, kFlags, entry.is_program() ? 0555 : 0444));
    if (!from || !to || ftruncate(to.get(), static_cast<off_t>(entry.size())) != 0)
        return os_error(name);
    thread_local Buffer buffer;
    const Result<std::uint32_t> copied =
        copy_range(from.get(), to.get(), {0, entry.size()}, 0, buffer);
    if (!copied) return Error{ErrorCode{}, fmt::format("{}: {}", name, copied.error().detail)};
    if (geteuid() == 0 && fchown(to.get(), place.owner.user, place.owner.group) != 0)
        return os_error(name);
    return {};
}

Result<void> make_job_tree(const Copy& copy, const std::string& path, const TreeOwner& owner) {
    return Tree(copy, owner).make(path);
}

Result<void> move_into_job(const std::string& tree, const std::string& scratch,
                           const std::string& name) {
    const Fd job(open(scratch.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!job || renameat2(AT_FDCWD, tree.c_str(), job.get(), name.c_str(), RENAME_NOREPLACE) != 0)
        return os_error("$SCRATCH/" + printable(name));
    return {};
}

}  // namespace sluice::stage
