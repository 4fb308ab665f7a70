#include "data/below.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <climits>

#include "os/empty_directory.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice::data {

namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

}  // namespace

std::string last_of(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));  // npos + 1: the whole path
}

Result<Below> Below::open(const std::string& directory) {
    Fd root(::open(directory.c_str(), kDirectory));
    if (!root) return os_error(directory);
    return Below(directory, std::move(root));
}

Result<Below> make_and_open(const std::string& directory) {
    TRY(make_directories(directory));
    return Below::open(directory);
}

std::string Below::full(std::string_view path) const {
    return fmt::format("{}/{}", name_, path);
}

Result<Fd> Below::parent(std::string_view path, bool make) const {
    Fd here(openat(root_.get(), ".", kDirectory));
    std::size_t begin = 0;
    for (std::size_t slash = path.find('/'); here && slash != std::string_view::npos;
         begin = slash + 1, slash = path.find('/', begin)) {
        const std::string component(path.substr(begin, slash - begin));
        if (make && mkdirat(here.get(), component.c_str(), 0777) != 0 && errno != EEXIST) break;
        here = Fd(openat(here.get(), component.c_str(), kDirectory | O_NOFOLLOW));
    }
    if (!here || path.find('/', begin) != std::string_view::npos) return os_error(full(path));
    return here;
}

Result<Fd> Below::open_file(std::string_view path) const {
    const Fd directory = TRY(parent(path, false));
    Fd file(openat(directory.get(), last_of(path).c_str(),
                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) return os_error(full(path));
    if (!S_ISREG(status.st_mode)) return os_error(full(path), EINVAL);
    return file;
}

std::optional<struct stat> Below::look(std::string_view path) const {
    const Result<Fd> directory = parent(path, false);
    struct stat status {};
    if (!directory ||
        fstatat(directory->get(), last_of(path).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return {};
    return status;
}

std::optional<std::string> Below::link_target(std::string_view path) const {
    const Result<Fd> directory = parent(path, false);
    char target[PATH_MAX];
    const ssize_t size =
        directory ? readlinkat(directory->get(), last_of(path).c_str(), target, sizeof target) : -1;
    if (size < 0) return {};
    return std::string(target, static_cast<std::size_t>(size));
}

Result<void> Below::remove(std::string_view path) const {
    const Result<Fd> directory = parent(path, false);
    if (!directory) return {};
    const std::string name = last_of(path);
    if (unlinkat(directory->get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
    const Fd tree(openat(directory->get(), name.c_str(), kDirectory | O_NOFOLLOW));
    if (!tree) return os_error(full(path));
    TRY(empty_directory(tree.get()));
    if (unlinkat(directory->get(), name.c_str(), AT_REMOVEDIR) != 0) return os_error(full(path));
    return {};
}

std::int64_t change_time(const struct stat& status) {
    return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace sluice::data
