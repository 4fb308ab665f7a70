// What the process does that runs as the user.
#include "stage/reader_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/text.h"
#include "data/dataset.h"
#include "os/error.h"
#include "os/files.h"
#include "os/user.h"
#include "os/walk.h"
#include "stage/channel.h"

namespace sluice::stage {

namespace {

constexpr unsigned kListThreads = 8;
constexpr std::size_t kEntriesPerMessage = 4096;
constexpr std::string_view kManifest = "/manifest.json";

Result<void> become(const ReaderUser& user) {
    if (geteuid() == 0) {
        const std::optional<User> found = TRY(find_user_with_groups(user.user, user.group));
        const std::vector<gid_t> groups =
            found ? found->groups : std::vector<gid_t>{static_cast<gid_t>(user.group)};
        if (setgroups(groups.size(), groups.data()) != 0 ||
            setresgid(user.group, user.group, user.group) != 0 ||
            setresuid(user.user, user.user, user.user) != 0)
            return os_error("cannot become the user of the job");
    }
    // Other processes of the user must not trace this one.
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return os_error("prctl");
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the user has cleared it
    umask(022);
    return {};
}

Entry entry_of(const TreeEntry& found) {
    using Kind = TreeEntry::Kind;
    Entry entry;
    entry.set_path(found.path);
    entry.set_kind(found.kind == Kind::File        ? kFile
                   : found.kind == Kind::Directory ? kDirectory
                                                   : kLink);
    entry.set_inode(found.inode);
    entry.set_changed_ns(found.changed_ns);
    entry.set_altered_ns(found.altered_ns);
    if (found.kind != Kind::File) return entry;
    entry.set_is_program((found.mode & S_IXUSR) != 0);
    entry.set_size(found.size);
    entry.set_disk_bytes(found.disk_bytes);
    return entry;
}

// A tree, as the user sees it. Each entry is checked as soon as it is found.
class TreeListing {
public:
    explicit TreeListing(std::string root) : root_(std::move(root)) {}

    Result<std::vector<Entry>> read() {
        top_ = Fd(open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!top_) return os_error(printable(root_));
        TRY(walk_tree(root_, {.threads = kListThreads},
                      [this](TreeEntry found) { add(std::move(found)); }));
        if (failure_) return *failure_;
        return std::move(entries_);
    }

private:
    void add(TreeEntry found) {
        Entry entry = entry_of(found);
        Result<void> usable = complete_one(found, entry);
        const std::lock_guard guard(mutex_);
        if (!usable && !failure_) failure_ = std::move(usable).error();
        entries_.push_back(std::move(entry));
    }

    Result<void> complete_one(const TreeEntry& found, Entry& entry) const {
        const auto refuse = [&](std::string_view why) {
            return Error{ErrorCode{},
                         fmt::format("{}/{}: {}", printable(root_), printable(found.path), why)};
        };
        if (found.path.size() >= PATH_MAX) return refuse("the path is too long");
        if (found.kind == TreeEntry::Kind::Other) return refuse("it is no file, directory or link");
        if (found.kind == TreeEntry::Kind::File &&
            faccessat(top_.get(), found.path.c_str(), R_OK, 0) != 0)
            return refuse(std::strerror(errno));
        if (found.kind != TreeEntry::Kind::Link) return {};
        char target[PATH_MAX];
        const ssize_t size = readlinkat(top_.get(), found.path.c_str(), target, sizeof target);
        if (size < 0) return refuse(std::strerror(errno));
        entry.set_target(target, static_cast<std::size_t>(size));
        if (!stays_inside(found.path, entry.target()))
            return refuse("the symbolic link leads out of the tree");
        return {};
    }

    const std::string root_;
    Fd top_;
    std::mutex mutex_;
    std::vector<Entry> entries_;
    std::optional<Error> failure_;
};

Result<Entry> one_file(const std::string& directory, const std::string& name) {
    const std::string path = directory + "/" + name;
    struct stat found {};
    if (stat(path.c_str(), &found) != 0 || access(path.c_str(), R_OK) != 0)
        return os_error(printable(path));
    if (!S_ISREG(found.st_mode))
        return Error{ErrorCode{}, printable(path) + ": it is no file and no directory"};
    TreeEntry entry{.path = name, .kind = TreeEntry::Kind::File};
    entry.size = static_cast<std::uint64_t>(found.st_size);
    entry.disk_bytes = static_cast<std::uint64_t>(found.st_blocks) * 512;
    entry.inode = found.st_ino;
    entry.changed_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec;
    entry.altered_ns = found.st_ctim.tv_sec * 1'000'000'000 + found.st_ctim.tv_nsec;
    entry.mode = found.st_mode;
    return entry_of(entry);
}

// Of sdata pack: only what belongs to the dataset.
Result<std::vector<Entry>> files_of_manifest(const std::string& directory) {
    const data::Manifest manifest = TRY(data::read_manifest(directory));
    std::vector<Entry> entries;
    entries.push_back(TRY(one_file(directory, "manifest.json")));
    for (const data::Shard& shard : manifest.shards) {
        for (const std::string& name : {shard.name, data::index_name(shard.name)})
            entries.push_back(TRY(one_file(directory, name)));
    }
    return entries;
}

class Process {
public:
    explicit Process(int control) : control_(control) {}

    void answer_lists() {
        while (Result<wire::ReaderOrder> order = receive_message<wire::ReaderOrder>(control_)) {
            if (order->has_line())
                add_line(order->line());
            else
                answer(order->list());
        }
    }

    void answer_opens(int channel) const {
        OpenQuestion question;
        while (recv(channel, &question, sizeof question, 0) == sizeof question) {
            OpenedFiles opened;
            for (std::uint32_t i = 0; i < question.count && opened.failure == 0; ++i)
                open_one(listing_.entries[question.first + i], opened);
            if (!send_files(channel, opened)) return;
        }
    }

private:
    void answer(const std::string& source) {
        listing_ = {};
        Result<void> listed = list(source);
        wire::ListedSource part;
        if (!listed) {
            part.set_error(listed.error().detail);
            (void)send_frame(control_, part);
            return;
        }
        for (std::size_t at = 0;;) {
            part.Clear();
            part.set_path(listing_.path);
            for (; at < listing_.entries.size() &&
                   static_cast<std::size_t>(part.entries_size()) < kEntriesPerMessage;
                 ++at)
                *part.add_entries() = listing_.entries[at];
            part.set_has_more(at < listing_.entries.size());
            if (!send_frame(control_, part) || !part.has_more()) return;
        }
    }

    Result<void> list(const std::string& source) {
        const std::unique_ptr<char, void (*)(void*)> real(realpath(source.c_str(), nullptr), free);
        if (!real) return os_error(printable(source));
        listing_.path = real.get();
        struct stat found {};
        if (stat(real.get(), &found) != 0) return os_error(printable(source));
        directory_ = listing_.path;
        if (S_ISDIR(found.st_mode)) {
            listing_.entries = TRY(TreeListing(listing_.path).read());
        } else if (listing_.path.ends_with(kManifest)) {
            directory_ = directory_of(listing_.path);
            listing_.entries = TRY(files_of_manifest(directory_));
        } else {
            directory_ = directory_of(listing_.path);
            file_ = base_name(listing_.path);
            listing_.entries = {TRY(one_file(directory_, file_))};
            listing_.entries.front().clear_path();
        }
        complete(listing_);
        top_ = Fd(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_PATH));
        if (!top_) return os_error(printable(directory_));
        return {};
    }

    // A file may have become something else, which must not stop us: O_NONBLOCK for pipes.
    void open_one(const Entry& entry, OpenedFiles& opened) const {
        if (entry.kind() != kFile) return;
        const std::string& path = entry.path().empty() ? file_ : entry.path();
        Fd file(openat(top_.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (!file) {
            opened.failure = errno;
            return;
        }
        opened.files.push_back(std::move(file));
    }

    static void add_line(const wire::OutputLine& line) {
        const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
        std::string path = line.path();
        const std::size_t name = path.find("%u");  // all other patterns are replaced already
        const std::optional<User> user = find_user(getuid());
        if (name != std::string::npos && user) path.replace(name, 2, user->name);
        const Fd file(open(path.c_str(), flags, 0644));
        if (file) (void)write_all(file.get(), line.text());
    }

    int control_;
    Listing listing_;
    std::string directory_, file_;
    Fd top_;
};

}  // namespace

int run_reader(const ReaderUser& user, int control, const std::vector<Fd>& channels) {
    if (Result<void> done = become(user); !done) {
        wire::ListedSource refusal;
        refusal.set_error(done.error().detail);
        (void)send_frame(control, refusal);
        return 1;
    }
    Process process(control);
    std::vector<std::thread> threads;
    for (const Fd& channel : channels)
        threads.emplace_back([&process, fd = channel.get()] { process.answer_opens(fd); });
    for (std::thread& each : threads) each.detach();
    process.answer_lists();
    _exit(0);
}

}  // namespace sluice::stage
