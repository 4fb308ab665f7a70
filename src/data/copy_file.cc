#include "data/copy_file.h"

#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice::data {

namespace {

constexpr std::size_t kPiece = 1u << 20;

// Copies from `begin` to `end`; false: the file is shorter by now.
Result<bool> copy_range(int from, int to, off_t begin, off_t end, std::vector<char>& buffer) {
    while (begin < end) {
        const auto wanted =
            static_cast<std::size_t>(std::min<off_t>(end - begin, static_cast<off_t>(kPiece)));
        const ssize_t size = pread(from, buffer.data(), wanted, begin);
        if (size < 0) return os_error("read");
        if (size == 0) return false;
        if (lseek(to, begin, SEEK_SET) < 0 ||
            !write_all(to, {buffer.data(), static_cast<std::size_t>(size)}))
            return os_error("write");
        begin += size;
    }
    return true;
}

Result<bool> copy_content(int from, int to, off_t size) {
    std::vector<char> buffer(kPiece);
    off_t at = 0;
    while (at < size) {
        const off_t begin = lseek(from, at, SEEK_DATA);
        if (begin < 0 && errno == ENXIO) break;  // a hole up to the end
        const bool has_holes = begin >= 0;       // otherwise the file system does not tell
        const off_t hole = has_holes ? lseek(from, begin, SEEK_HOLE) : size;
        const off_t end = std::min(hole < 0 ? size : hole, size);
        if (!TRY(copy_range(from, to, has_holes ? begin : at, end, buffer))) return false;
        at = end;
    }
    if (ftruncate(to, size) != 0) return os_error("write");
    return true;
}

Result<void> finish_copy(int copy, const struct stat& original) {
    const timespec times[] = {original.st_atim, original.st_mtim};
    if (fchmod(copy, original.st_mode & 0777) != 0 || fdatasync(copy) != 0 ||
        futimens(copy, times) != 0)
        return os_error("write");
    (void)posix_fadvise(copy, 0, 0, POSIX_FADV_DONTNEED);
    return {};
}

Error about(const std::string& file, const Error& error) {
    return Error{error.code, file + ": " + error.detail};
}

}  // namespace

bool is_same_file(const struct stat& original, const struct stat& copy) {
    if (!S_ISREG(copy.st_mode) || original.st_size != copy.st_size) return false;
    if (original.st_mtim.tv_sec != copy.st_mtim.tv_sec) return false;
    const long exact = original.st_mtim.tv_nsec;
    const long kept = copy.st_mtim.tv_nsec;
    return kept == exact || kept == 0 || kept == exact / 1000 * 1000;
}

Result<bool> copy_file(const Below& source, const Below& target, const std::string& path) {
    const Result<Fd> original = source.open_file(path);
    if (!original && !source.look(path)) return false;  // removed meanwhile
    if (!original) return original.error();
    struct stat before {
    }, after{};
    if (fstat(original->get(), &before) != 0) return os_error(source.full(path));
    const std::string part(kPart);
    TRY(target.remove(part));
    const Fd copy(openat(target.fd(), part.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!copy) return os_error(target.full(path));
    Result<bool> copied = copy_content(original->get(), copy.get(), before.st_size);
    if (copied && *copied) {
        if (fstat(original->get(), &after) != 0) return os_error(source.full(path));
        copied = is_same_file(before, after) && change_time(before) == change_time(after);
    }
    if (copied && *copied) {
        if (Result<void> finished = finish_copy(copy.get(), before); !finished)
            copied = finished.error();
    }
    if (!copied || !*copied) {
        (void)unlinkat(target.fd(), part.c_str(), 0);
        if (!copied) return about(target.full(path), copied.error());
        return false;
    }
    const Fd directory = TRY(target.parent(path, true));
    if (renameat(target.fd(), part.c_str(), directory.get(), last_of(path).c_str()) == 0)
        return true;
    const Error failed = os_error(target.full(path));
    (void)unlinkat(target.fd(), part.c_str(), 0);
    return failed;
}

bool stays_inside(std::string_view path, std::string_view target) {
    if (target.empty() || target.starts_with('/')) return false;
    auto depth = static_cast<long>(std::count(path.begin(), path.end(), '/'));
    for (const std::string_view part : split(target, '/')) {
        if (part.empty() || part == ".") continue;
        depth += part == ".." ? -1 : 1;
        if (depth < 0) return false;
    }
    return true;
}

Result<void> copy_link(const Below& target, const std::string& path, const std::string& leads_to) {
    if (target.link_target(path) == leads_to) return {};
    const std::string part(kPart);
    TRY(target.remove(part));
    const Fd directory = TRY(target.parent(path, true));
    if (symlinkat(leads_to.c_str(), target.fd(), part.c_str()) == 0 &&
        renameat(target.fd(), part.c_str(), directory.get(), last_of(path).c_str()) == 0)
        return {};
    const Error failed = os_error(target.full(path));
    (void)unlinkat(target.fd(), part.c_str(), 0);
    return failed;
}

// The kernel gives a read lease only on a file that nobody has open for writing.
std::optional<bool> is_open_for_writing(int file) {
    if (fcntl(file, F_SETLEASE, F_RDLCK) == 0) {
        (void)fcntl(file, F_SETLEASE, F_UNLCK);
        return false;
    }
    if (errno == EAGAIN || errno == EBUSY) return true;
    return {};
}

bool is_torn_archive(int file, std::uint64_t size) {
    constexpr std::string_view kBegin = "PK\x03\x04", kEnd = "PK\x05\x06";
    constexpr std::uint64_t kEndMost = 22 + 0xffff;  // the record at the end, with its comment
    std::array<char, 4> first{};
    if (pread(file, first.data(), first.size(), 0) != static_cast<ssize_t>(first.size()) ||
        std::string_view(first.data(), first.size()) != kBegin)
        return false;
    std::string last(std::min(size, kEndMost), '\0');
    const auto from = static_cast<off_t>(size - last.size());
    const ssize_t read = pread(file, last.data(), last.size(), from);
    if (read < 0) return false;
    last.resize(static_cast<std::size_t>(read));
    return last.rfind(kEnd) == std::string::npos;
}

}  // namespace sluice::data
