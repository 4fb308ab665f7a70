#include "os/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "os/error.h"
#include "os/fd.h"

namespace sluice {

namespace {

TreeEntry entry_of(std::string path, const struct stat& found) {
    using enum TreeEntry::Kind;
    TreeEntry entry{.path = std::move(path)};
    entry.kind = S_ISREG(found.st_mode)   ? File
                 : S_ISDIR(found.st_mode) ? Directory
                 : S_ISLNK(found.st_mode) ? Link
                                          : Other;
    entry.size = static_cast<std::uint64_t>(found.st_size);
    entry.disk_bytes = static_cast<std::uint64_t>(found.st_blocks) * 512;
    entry.device = found.st_dev;
    entry.inode = found.st_ino;
    entry.links = found.st_nlink;
    entry.changed_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec;
    entry.altered_ns = found.st_ctim.tv_sec * 1'000'000'000 + found.st_ctim.tv_nsec;
    entry.mode = found.st_mode;
    entry.owner = found.st_uid;
    return entry;
}

class Walk {
public:
    Walk(std::string root, const WalkOptions& options, const std::function<void(TreeEntry)>& each)
        : root_(std::move(root)), options_(options), each_(each) {}

    Result<void> run() {
        struct stat top {};
        if (stat(root_.c_str(), &top) != 0) return os_error(root_);
        if (!S_ISDIR(top.st_mode)) return os_error(root_, ENOTDIR);
        device_ = top.st_dev;
        waiting_.emplace_back();
        std::vector<std::thread> threads;
        for (unsigned i = 1; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
        work();
        for (std::thread& each : threads) each.join();
        if (error_) return *error_;
        return {};
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [&] { return !waiting_.empty() || busy_ == 0; });
            if (waiting_.empty()) break;
            const std::string path = std::move(waiting_.back());  // depth first: fewer wait
            waiting_.pop_back();
            ++busy_;
            lock.unlock();
            std::vector<std::string> below;
            Result<void> read = read_directory(path, below);
            lock.lock();
            --busy_;
            const bool is_left_out = !read && !path.empty() && options_.on_unreadable;
            if (is_left_out) options_.on_unreadable(read.error());
            if (!read && !is_left_out && !error_) error_ = std::move(read).error();
            if (error_)
                waiting_.clear();
            else
                std::move(below.begin(), below.end(), std::back_inserter(waiting_));
            changed_.notify_all();
        }
        changed_.notify_all();
    }

    Result<void> read_directory(const std::string& path, std::vector<std::string>& below) {
        const std::string full = path.empty() ? root_ : root_ + "/" + path;
        const int fd = open(full.c_str(),
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC | (path.empty() ? 0 : O_NOFOLLOW));
        if (fd < 0 && errno == ENOENT && !path.empty()) return {};  // removed meanwhile
        if (fd < 0) return os_error(full);
        const std::unique_ptr<DIR, int (*)(DIR*)> directory(fdopendir(fd), closedir);
        if (!directory) return os_error(full);
        while (true) {
            errno = 0;
            const dirent* next = readdir(directory.get());
            if (!next) break;
            const std::string name = next->d_name;
            if (name == "." || name == "..") continue;
            struct stat found {};
            if (fstatat(fd, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
                if (errno == ENOENT) continue;  // removed meanwhile
                return os_error(full + "/" + name);
            }
            if (options_.one_file_system && found.st_dev != device_) continue;
            TreeEntry entry = entry_of(path.empty() ? name : path + "/" + name, found);
            if (entry.kind == TreeEntry::Kind::Directory) below.push_back(entry.path);
            each_(std::move(entry));
        }
        if (errno != 0) return os_error(full);
        return {};
    }

    const std::string root_;
    const WalkOptions options_;
    const std::function<void(TreeEntry)>& each_;
    dev_t device_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> waiting_;  // directories, below the root
    unsigned busy_ = 0;
    std::optional<Error> error_;
};

}  // namespace

Result<void> walk_tree(const std::string& root, const WalkOptions& options,
                       const std::function<void(TreeEntry)>& each) {
    return Walk(root, options, each).run();
}

}  // namespace sluice
