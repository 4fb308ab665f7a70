#include "data/sync.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>

#include "data/copy_file.h"
#include "os/error.h"
#include "os/files.h"
#include "os/walk.h"

namespace sluice::data {

namespace {

using Kind = SyncedEntry::Kind;

std::string entry_of(const std::string& path) {
    return path.substr(0, path.find('/'));
}

// Two synchronisations of one target would remove each other's files: one waits for the other.
// Where the file system has no locks nothing is locked.
Result<Fd> lock(const Below& target) {
    const std::string name = fmt::format("{}.lock", kOwnNames);
    Fd file(openat(target.fd(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return os_error(target.full(name));
    (void)flock(file.get(), LOCK_EX);
    return file;
}

std::vector<std::string> complete_by_age(const SyncState& state) {
    std::vector<std::pair<std::int64_t, std::string>> found;
    for (const auto& [name, entry] : state) {
        if (entry.kind == Kind::Complete) found.emplace_back(entry.changed_ns, name);
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> names;
    for (auto& [time, name] : found) names.push_back(std::move(name));
    return names;
}

std::optional<std::int64_t> newest_in(const SyncState& state) {
    const std::vector<std::string> names = complete_by_age(state);
    if (names.empty()) return {};
    return state.at(names.front()).changed_ns;
}

}  // namespace

bool Synchroniser::Checkpoint::is_complete() const {
    return std::all_of(files.begin(), files.end(),
                       [](const File& each) { return each.is_complete; });
}

Result<SyncReport> Synchroniser::run(Clock::time_point now) {
    SyncReport report;
    struct stat status {};
    if (stat(order_.local.c_str(), &status) != 0 && errno == ENOENT) {
        report.is_local_missing = true;
        return report;
    }
    const Below source = TRY(Below::open(order_.local));
    const Checkpoints here = TRY(look_at_source(source, now, report));
    const Below target = TRY(make_and_open(order_.persistent));
    const Fd locked = TRY(lock(target));
    TRY(target.remove(kPart));  // of one that was killed
    state_ = read_sync_state(order_.persistent);
    const std::vector<std::string> names = wanted(here, state_);
    if (names.empty()) TRY(prune(target));  // what one that was killed has left
    for (const std::string& name : names) {
        TRY(copy(source, target, name, here.at(name), report));
        TRY(prune(target));
    }
    report.newest_ns = newest_in(state_);
    return report;
}

Result<Synchroniser::Checkpoints> Synchroniser::look_at_source(const Below& source,
                                                               Clock::time_point now,
                                                               SyncReport& report) {
    std::vector<TreeEntry> found;
    TRY(walk_tree(order_.local, {.threads = 1},
                  [&](TreeEntry entry) { found.push_back(std::move(entry)); }));
    Checkpoints here;
    for (const TreeEntry& each : found) {
        using Is = TreeEntry::Kind;
        if (each.path.starts_with(kOwnNames)) continue;
        Checkpoint& checkpoint = here[entry_of(each.path)];
        File file{each.path, each.kind == Is::Link, true, each.size, each.changed_ns};
        if (each.kind == Is::Other) {
            report.left_out.push_back(each.path + ": neither a file nor a directory");
        } else if (each.kind == Is::Link) {
            const std::optional<std::string> leads_to = source.link_target(each.path);
            if (!leads_to || !stays_inside(each.path, *leads_to)) {
                report.left_out.push_back(each.path + ": a symbolic link to outside");
                continue;
            }
            checkpoint.is_link = each.path == entry_of(each.path);
            checkpoint.files.push_back(std::move(file));
        } else if (each.kind == Is::File) {
            file.is_complete = is_complete(source, file, now, report);
            checkpoint.changed_ns = std::max(checkpoint.changed_ns, each.changed_ns);
            checkpoint.files.push_back(std::move(file));
        }
    }
    std::erase_if(here, [](const auto& each) { return each.second.files.empty(); });
    std::erase_if(looks_, [&](const auto& look) {
        const auto entry = here.find(entry_of(look.first));
        return entry == here.end();
    });
    return here;
}

bool Synchroniser::is_complete(const Below& source, const File& file, Clock::time_point now,
                               SyncReport& report) {
    const Result<Fd> opened = source.open_file(file.path);
    if (!opened) return true;  // unreadable: the copy says why
    if (is_torn_archive(opened->get(), file.size)) {
        if (order_.is_final)
            report.left_out.push_back(file.path + ": its end is missing");
        else
            report.waiting.push_back(file.path);
        return false;
    }
    if (order_.is_final) return true;
    Look& look = looks_[file.path];
    if (look.size != file.size || look.changed_ns != file.changed_ns ||
        look.since == Clock::time_point{})
        look = {file.size, file.changed_ns, now};
    const std::optional<bool> open = is_open_for_writing(opened->get());
    const auto needed = !open ? patience_.unknown : *open ? patience_.open : patience_.closed;
    if (now - look.since >= needed) return true;
    report.waiting.push_back(file.path);
    return false;
}

// The newest first, because there may be no time for the others; links at last, because they lead
// to others. With `keep` older checkpoints than would be kept are not copied, and incomplete ones
// wait: the target never has more than one too many.
std::vector<std::string> Synchroniser::wanted(const Checkpoints& here,
                                              const SyncState& there) const {
    std::vector<std::string> names;
    SyncState both = there;
    for (const auto& [name, checkpoint] : here) {
        names.push_back(name);
        const Kind kind = checkpoint.is_link         ? Kind::Link
                          : checkpoint.is_complete() ? Kind::Complete
                                                     : Kind::Partial;
        both[name] = {kind, checkpoint.changed_ns};
    }
    const auto place = [&](const std::string& name) {
        const SyncedEntry& entry = both.at(name);
        return std::pair(entry.kind == Kind::Link, -entry.changed_ns);
    };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return place(a) < place(b);
    });
    if (!order_.keep) return names;
    const std::vector<std::string> by_age = complete_by_age(both);
    const std::size_t kept = std::min<std::size_t>(*order_.keep, by_age.size());
    const std::set<std::string> newest(by_age.begin(),
                                       by_age.begin() + static_cast<std::ptrdiff_t>(kept));
    std::erase_if(names, [&](const std::string& name) {
        return both.at(name).kind != Kind::Link && !newest.contains(name);
    });
    return names;
}

Result<void> Synchroniser::copy(const Below& source, const Below& target, const std::string& name,
                                const Checkpoint& checkpoint, SyncReport& report) {
    bool is_complete = checkpoint.is_complete();
    bool is_begun = false;  // files of it are being replaced
    for (const File& file : checkpoint.files) {
        if (!file.is_complete) continue;
        if (file.is_link) {
            const std::optional<std::string> leads_to = source.link_target(file.path);
            if (leads_to) TRY(copy_link(target, file.path, *leads_to));
            continue;
        }
        const std::optional<struct stat> original = source.look(file.path);
        const std::optional<struct stat> there = target.look(file.path);
        if (original && there && is_same_file(*original, *there)) continue;
        // A file that was complete stays so until the new one takes its place.
        const bool replaces_whole = file.path == name && state_.contains(name);
        if (!replaces_whole && !std::exchange(is_begun, true)) {
            state_[name] = {Kind::Partial, checkpoint.changed_ns};
            TRY(write_sync_state(order_.persistent, state_));
        }
        const bool copied = TRY(copy_file(source, target, file.path));
        is_complete = is_complete && copied;
        if (!copied) report.waiting.push_back(file.path);
        report.files += copied ? 1 : 0;
        report.bytes += copied ? file.size : 0;
    }
    const Kind kind = checkpoint.is_link ? Kind::Link
                      : is_complete      ? Kind::Complete
                                         : Kind::Partial;
    const SyncedEntry now{kind, checkpoint.changed_ns};
    if (const auto known = state_.find(name); known != state_.end() && known->second == now)
        return {};
    state_[name] = now;
    return write_sync_state(order_.persistent, state_);
}

// After the copies: there are never fewer than `keep` complete checkpoints because of one that
// could not be copied.
Result<void> Synchroniser::prune(const Below& target) {
    if (!order_.keep) return {};
    const std::vector<std::string> by_age = complete_by_age(state_);
    const std::size_t kept = std::min<std::size_t>(*order_.keep, by_age.size());
    std::set<std::string> stay(by_age.begin(), by_age.begin() + static_cast<std::ptrdiff_t>(kept));
    std::vector<std::string> gone;
    for (const auto& [name, entry] : state_) {
        if (entry.kind != Kind::Link && !stay.contains(name)) gone.push_back(name);
    }
    for (const std::string& name : gone) {
        if (state_.at(name).kind == Kind::Complete) {
            state_.at(name).kind = Kind::Partial;  // until it is gone it may be half of it
            TRY(write_sync_state(order_.persistent, state_));
        }
        TRY(target.remove(name));
        state_.erase(name);
    }
    for (auto link = state_.begin(); link != state_.end();) {
        const bool dangles = link->second.kind == Kind::Link &&
                             faccessat(target.fd(), link->first.c_str(), F_OK, 0) != 0;
        if (dangles) TRY(target.remove(link->first));
        link = dangles ? state_.erase(link) : std::next(link);
    }
    return gone.empty() ? Result<void>() : write_sync_state(order_.persistent, state_);
}

namespace {

Result<void> restore_entry(const Below& source, const Below& target, const std::string& name) {
    const std::optional<struct stat> top = source.look(name);
    if (!top) return {};
    std::vector<std::string> files;
    if (!S_ISDIR(top->st_mode)) {
        files.push_back(name);
    } else {
        TRY(walk_tree(source.full(name), {.threads = 1}, [&](const TreeEntry& each) {
            if (each.kind != TreeEntry::Kind::Directory) files.push_back(name + "/" + each.path);
        }));
    }
    for (const std::string& path : files) {
        if (const std::optional<std::string> leads_to = source.link_target(path)) {
            if (stays_inside(path, *leads_to)) TRY(copy_link(target, path, *leads_to));
            continue;
        }
        const std::optional<struct stat> original = source.look(path);
        const std::optional<struct stat> there = target.look(path);
        if (original && there && is_same_file(*original, *there)) continue;
        if (!TRY(copy_file(source, target, path)))
            return Error{{}, source.full(path) + ": it changed while it was restored"};
    }
    return {};
}

}  // namespace

Result<std::string> restore_newest(const std::string& persistent, const std::string& local) {
    const SyncState state = read_sync_state(persistent);
    const std::vector<std::string> by_age = complete_by_age(state);
    if (by_age.empty()) return std::string();
    const Below source = TRY(Below::open(persistent));
    const Below target = TRY(make_and_open(local));
    TRY(target.remove(kPart));
    TRY(restore_entry(source, target, by_age.front()));
    for (const auto& [name, entry] : state) {
        if (entry.kind != Kind::Link) continue;
        TRY(restore_entry(source, target, name));
        if (faccessat(target.fd(), name.c_str(), F_OK, 0) != 0) TRY(target.remove(name));
    }
    return by_age.front();
}

}  // namespace sluice::data
