#include "stage/shard_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "os/error.h"
#include "os/files.h"

namespace sluice::stage {

namespace {

constexpr const char* kMark = ".sluice-staging";
constexpr const char* kNewMark = ".sluice-staging.new";
constexpr const char* kPart = ".sluice-staging.part";  // a file that is copied once more

Result<void> check_flat(const Listing& listing) {
    const auto is_directory = [](const Entry& entry) { return entry.kind() == kDirectory; };
    const auto& entries = listing.entries;
    if (!listing.is_one_file() && std::none_of(entries.begin(), entries.end(), is_directory))
        return {};
    return Error{ErrorCode{}, printable(listing.path) +
                                  ": stream needs a directory of files without subdirectories"};
}

}  // namespace

ShardStream::ShardStream(const Copy& copy, const TreeOwner& owner, std::function<void()> on_first)
    : copy_(copy), owner_(owner), on_first_(std::move(on_first)) {
    pieces_left_.resize(copy.listing().entries.size());
    for (const Piece& piece : copy.pieces()) {
        for (std::uint32_t i = piece.first; i < piece.first + piece.count; ++i) ++pieces_left_[i];
    }
    for (const Entry& entry : copy.listing().entries)
        ++(entry.size() > kPieceBytes ? large_ : small_left_);
}

Result<std::unique_ptr<ShardStream>> ShardStream::begin(const Copy& copy, const StreamPlace& place,
                                                        std::function<void()> on_first) {
    TRY(check_flat(copy.listing()));
    std::unique_ptr<ShardStream> stream(new ShardStream(copy, place.owner, std::move(on_first)));
    TRY(stream->make_directory(place));
    return stream;
}

// What follows goes through the descriptor: the user can move the directory, not what is below it.
Result<void> ShardStream::make_directory(const StreamPlace& place) {
    const std::string path = fmt::format("{}/{}", place.scratch, place.name);
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    directory_ = Fd(open(path.c_str(), kFlags));
    if (directory_) return {};
    remove_tree(place.tree);
    if (mkdir(place.tree.c_str(), 0755) != 0) return os_error(place.tree);
    directory_ = Fd(open(place.tree.c_str(), kFlags));
    if (!directory_) return os_error(place.tree);
    TRY(write_mark(""));
    if (geteuid() == 0 && fchown(directory_.get(), place.owner.user, place.owner.group) != 0)
        return os_error(place.tree);
    return move_into_job(place.tree, place.scratch, place.name);
}

Result<void> ShardStream::write_mark(const std::string& text) const {
    (void)unlinkat(directory_.get(), kNewMark, 0);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    const Fd file(openat(directory_.get(), kNewMark, flags, 0644));
    if (!file || !write_all(file.get(), text) ||
        renameat(directory_.get(), kNewMark, directory_.get(), kMark) != 0)
        return os_error(kMark);
    return {};
}

// The job may have removed or renamed what it got: that is its own affair.
void ShardStream::show(std::uint32_t number) {
    const Entry& entry = copy_.listing().entries[number];
    const char* path = entry.path().c_str();
    int made = 0;
    if (entry.kind() == kLink) {
        made = symlinkat(entry.target().c_str(), directory_.get(), path);
    } else {
        const mode_t mode = entry.is_program() ? 0555 : 0444;
        made = fchmodat(copy_.data(), path, mode, 0);
        if (made == 0) made = linkat(copy_.data(), path, directory_.get(), path, 0);
        if (made != 0 && errno != EEXIST && failure_.empty()) {
            const Result<void> copied = show_copy(entry);
            if (!copied) failure_ = copied.error().detail;
            return;
        }
    }
    if (made != 0 && errno != EEXIST && failure_.empty())
        failure_ = os_error(printable(path)).detail;
}

// Where there can be no link, as on another file system. It gets its name when it is complete.
Result<void> ShardStream::show_copy(const Entry& entry) const {
    (void)unlinkat(directory_.get(), kPart, 0);
    TRY(give_file(copy_, entry, {directory_.get(), kPart, owner_}));
    if (renameat2(directory_.get(), kPart, directory_.get(), entry.path().c_str(),
                  RENAME_NOREPLACE) != 0 &&
        errno != EEXIST)
        return os_error(printable(entry.path()));
    return {};
}

void ShardStream::on_piece(std::size_t number) {
    const std::lock_guard guard(mutex_);
    const Piece& piece = copy_.pieces()[number];
    for (std::uint32_t i = piece.first; i < piece.first + piece.count; ++i) {
        if (--pieces_left_[i] > 0) continue;
        show(i);
        if (copy_.listing().entries[i].size() > kPieceBytes)
            ++large_here_;
        else
            --small_left_;
    }
    const bool is_enough = small_left_ == 0 && (large_here_ > 0 || large_ == 0);
    if (is_shown_ || !is_enough || !failure_.empty()) return;
    is_shown_ = true;
    on_first_();
}

Result<void> ShardStream::finish() {
    const std::lock_guard guard(mutex_);
    if (!failure_.empty()) return Error{ErrorCode{}, failure_};
    if (unlinkat(directory_.get(), kMark, 0) != 0 && errno != ENOENT) return os_error(kMark);
    return {};
}

void ShardStream::fail(const std::string& why) {
    const std::lock_guard guard(mutex_);
    (void)write_mark(why + "\n");
}

}  // namespace sluice::stage
