#include "stage/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "model/stage_in.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice::stage {

namespace {

constexpr const char* kFolders[] = {"/entries", "/partial", "/locks", "/pins"};

// What sources() and unpinned() need to know, without the index: "BYTES HASH".
constexpr const char* kNote = "/note";

bool is_at(const Fd& file, const std::string& path) {
    struct stat ours {
    }, named{};
    return fstat(file.get(), &ours) == 0 && stat(path.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino;
}

// The file may have been removed while we waited: then another one counts.
Result<Fd> lock_file(const std::string& path) {
    for (;;) {
        Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!file) return os_error(path);
        while (flock(file.get(), LOCK_EX) != 0) {
            if (errno != EINTR) return os_error(path);
        }
        if (is_at(file, path)) return file;
    }
}

// Gone from its name at once, and then from the disk.
void remove_copy(const std::string& path, const std::string& directory) {
    const std::string gone = fmt::format("{}/partial/gone.{}", directory, base_name(path));
    if (std::rename(path.c_str(), gone.c_str()) != 0) return remove_tree(path);
    remove_tree(gone);
}

}  // namespace

bool is_older(const std::string& path, std::int64_t before_ns) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 &&
           found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec < before_ns;
}

Result<Cache> Cache::open(std::string directory, std::uint64_t size) {
    TRY(make_directories(directory, 0700));
    struct stat status {};
    if (lstat(directory.c_str(), &status) != 0) return os_error(directory);
    const bool is_ours = S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!is_ours) {
        return Error{ErrorCode{}, fmt::format("DataCacheDir={}: it must belong to uid {} and be "
                                              "closed to all others",
                                              directory, geteuid())};
    }
    for (const char* folder : kFolders) TRY(make_directories(directory + folder, 0700));
    return Cache(std::move(directory), size);
}

Result<Fd> Cache::lock(const std::string& key) const {
    return lock_file(fmt::format("{}/locks/{}", directory_, key));
}

Result<Fd> Cache::lock_all() const {
    return lock_file(directory_ + "/lock");
}

Result<void> Cache::pin(const std::string& job, const std::string& key) const {
    const Fd held = TRY(lock_all());
    const std::string pins = fmt::format("{}/pins/{}", directory_, job);
    TRY(make_directories(pins, 0700));
    return write_file_atomically(fmt::format("{}/{}", pins, key), "", {.mode = 0600});
}

void Cache::touch(const std::string& key) const {
    (void)utimensat(AT_FDCWD, (entry(key) + kNote).c_str(), nullptr, 0);
}

Result<void> Cache::write_note(const std::string& copy, std::string_view source,
                               std::uint64_t bytes) {
    const std::string text = fmt::format("{} {}", bytes, source_hash(source));
    return write_file_atomically(copy + kNote, text, {.mode = 0600});
}

std::set<std::string> Cache::pinned() const {
    std::set<std::string> keys;
    for (const std::string& job : list_directory(directory_ + "/pins")) {
        for (std::string& key : list_directory(fmt::format("{}/pins/{}", directory_, job)))
            keys.insert(std::move(key));
    }
    return keys;
}

std::vector<Cache::Kept> Cache::unpinned() const {
    const std::set<std::string> used = pinned();
    std::vector<Kept> kept;
    for (const std::string& key : list_directory(directory_ + "/entries")) {
        if (used.contains(key)) continue;
        Kept one{.key = key};
        struct stat status {};
        const std::string note = entry(key) + kNote;
        if (stat(note.c_str(), &status) == 0)
            one.used = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
        const Result<std::string> text = read_file(note);
        if (text) one.bytes = to_number(text->substr(0, text->find(' '))).value_or(0);
        kept.push_back(one);
    }
    std::sort(kept.begin(), kept.end(),
              [](const Kept& a, const Kept& b) { return a.used < b.used; });
    return kept;
}

Result<std::uint64_t> Cache::make_room(std::uint64_t wanted) const {
    const Fd held = TRY(lock_all());
    const auto free_bytes = [&] {
        struct statvfs disk {};
        if (statvfs(directory_.c_str(), &disk) != 0) return std::uint64_t{0};
        return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    };
    for (const Kept& one : unpinned()) {
        if (free_bytes() >= wanted) break;
        remove_copy(entry(one.key), directory_);
    }
    return free_bytes();
}

// One whose lock is taken is being made.
void Cache::remove_partials() const {
    std::set<std::string> taken;
    for (const std::string& name : list_directory(directory_ + "/locks")) {
        const std::string path = fmt::format("{}/locks/{}", directory_, name);
        const Fd lock(::open(path.c_str(), O_RDWR | O_CLOEXEC));
        if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
            taken.insert(name);
        } else {
            remove_tree(partial(name));
            unlink(path.c_str());
        }
    }
    for (const std::string& name : list_directory(directory_ + "/partial")) {
        if (!taken.contains(name)) remove_tree(partial(name));
    }
}

void Cache::tidy(const std::set<std::string>& jobs, std::int64_t before_ns) const {
    const Result<Fd> held = lock_all();
    if (!held) return;
    for (const std::string& job : list_directory(directory_ + "/pins")) {
        const std::string pins = fmt::format("{}/pins/{}", directory_, job);
        if (!jobs.contains(job) && is_older(pins, before_ns)) remove_tree(pins);
    }
    remove_partials();
    std::vector<Kept> kept = unpinned();
    std::uint64_t bytes = 0;
    for (const Kept& one : kept) bytes += one.bytes;
    for (const Kept& one : kept) {
        if (bytes <= size_) break;
        remove_copy(entry(one.key), directory_);
        bytes -= one.bytes;
    }
}

std::vector<std::uint64_t> Cache::sources() const {
    std::set<std::uint64_t> found;
    for (const char* folder : {"/entries/", "/partial/"}) {
        for (const std::string& key : list_directory(directory_ + folder)) {
            const Result<std::string> note = read_file(directory_ + folder + key + kNote);
            const std::size_t space = note ? note->find(' ') : std::string::npos;
            if (space == std::string::npos) continue;
            if (const auto hash = to_number(note->substr(space + 1))) found.insert(*hash);
        }
    }
    return {found.begin(), found.end()};
}

}  // namespace sluice::stage
