#include "stage/copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>

#include "data/crc32c.h"
#include "data/parallel.h"
#include "os/error.h"
#include "os/files.h"
#include "os/hardware.h"
#include "stage/sparse.h"

namespace sluice::stage {

namespace {

constexpr const char* kData = "/data";
constexpr const char* kIndex = "/index";
constexpr const char* kOnlyFile = "file";  // the name of a source that is a file, below data

std::int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

Error failed(const Listing& listing, const Entry& entry, const Error& why) {
    return {ErrorCode{},
            fmt::format("{}/{}: {}", printable(listing.path), printable(entry.path()), why.detail)};
}

// A hole at its end was not written.
Result<void> set_size(int file, const Entry& entry) {
    struct stat status {};
    const auto size = static_cast<off_t>(entry.size());
    const bool is_right = fstat(file, &status) == 0 && status.st_size == size;
    if (!is_right && ftruncate(file, size) != 0) return os_error(printable(entry.path()));
    return {};
}

Error changed(const Listing& listing, const Entry& entry) {
    return {ErrorCode{}, fmt::format("{}/{}: it has changed during the copy",
                                     printable(listing.path), printable(entry.path()))};
}

bool is_as_listed(int file, const Entry& entry) {
    struct stat now {};
    return fstat(file, &now) == 0 && S_ISREG(now.st_mode) && now.st_ino == entry.inode() &&
           static_cast<std::uint64_t>(now.st_size) == entry.size() &&
           nanoseconds(now.st_mtim) == entry.changed_ns() &&
           nanoseconds(now.st_ctim) == entry.altered_ns();
}

}  // namespace

const char* name_in_copy(const Entry& entry) {
    return entry.path().empty() ? kOnlyFile : entry.path().c_str();
}

Result<std::unique_ptr<Copy>> Copy::begin(const std::string& directory, Listing listing) {
    std::unique_ptr<Copy> copy(new Copy(directory));
    copy->listing_ = std::move(listing);
    copy->pieces_ = pieces_of(copy->listing_);
    TRY(make_directories(directory + kData, 0700));
    copy->data_ = Fd(::open((directory + kData).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const Fd top(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!copy->data_ || !top) return os_error(directory);
    TRY(copy->make_tree());
    TRY(copy->write_index());
    copy->table_ =
        std::make_unique<PieceTable>(TRY(PieceTable::create(top.get(), copy->pieces_.size())));
    return copy;
}

Result<std::unique_ptr<Copy>> Copy::open(const std::string& directory) {
    std::unique_ptr<Copy> copy(new Copy(directory));
    const std::string text = TRY(read_file(directory + kIndex));
    const std::size_t size = text.size() - std::min<std::size_t>(text.size(), 4);
    const std::uint32_t crc = data::crc32c(std::string_view(text).substr(0, size));
    wire::DatasetIndex index;
    const bool is_whole = size > 0 && std::memcmp(text.data() + size, &crc, sizeof crc) == 0 &&
                          index.ParseFromArray(text.data(), static_cast<int>(size));
    if (!is_whole) return Error{ErrorCode{}, directory + ": the index is damaged"};
    copy->listing_ = {.source = index.source(), .path = index.path()};
    for (Entry& entry : *index.mutable_entries())
        copy->listing_.entries.push_back(std::move(entry));
    complete(copy->listing_);
    copy->pieces_ = pieces_of(copy->listing_);
    copy->dates_.assign(index.dates().begin(), index.dates().end());
    copy->boot_ = index.boot();
    copy->data_ = Fd(::open((directory + kData).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const Fd top(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!copy->data_ || !top) return os_error(directory);
    copy->table_ = std::make_unique<PieceTable>(TRY(PieceTable::open(top.get())));
    if (copy->table_->size() != copy->pieces_.size())
        return Error{ErrorCode{}, directory + ": the table of pieces is damaged"};
    return copy;
}

// Directories, links, files without content, and large files with all their room as a hole.
Result<void> Copy::make_tree() {
    for (const Entry& entry : listing_.entries) {
        const char* path = name_in_copy(entry);
        int made = 0;
        if (entry.kind() == kDirectory) {
            made = mkdirat(data_.get(), path, 0700);
        } else if (entry.kind() == kLink) {
            made = symlinkat(entry.target().c_str(), data_.get(), path);
        } else if (entry.size() > kPieceBytes) {
            const Fd file(openat(data_.get(), path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            made = file ? ftruncate(file.get(), static_cast<off_t>(entry.size())) : -1;
        }
        if (made != 0) return os_error(printable(entry.path()));
    }
    return {};
}

Result<void> Copy::write_index() const {
    wire::DatasetIndex index;
    index.set_source(listing_.source);
    index.set_path(listing_.path);
    index.set_bytes(listing_.disk_bytes);
    index.set_boot(boot_);
    index.mutable_dates()->Add(dates_.begin(), dates_.end());
    for (const Entry& entry : listing_.entries) *index.add_entries() = entry;
    std::string text = index.SerializeAsString();
    const std::uint32_t crc = data::crc32c(text);
    text.append(reinterpret_cast<const char*>(&crc), sizeof crc);
    return write_file_atomically(directory_ + kIndex, text, {.mode = 0600});
}

bool Copy::is_complete() const {
    for (std::size_t i = 0; i < table_->size(); ++i) {
        if (!table_->is_here(i)) return false;
    }
    return true;
}

// A small file is written by one thread, and made here.
Result<Fd> Copy::file_for(std::uint32_t number) {
    const Entry& entry = listing_.entries[number];
    const bool is_large = entry.size() > kPieceBytes;
    const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (is_large ? 0 : O_CREAT | O_TRUNC);
    const mode_t mode = entry.is_program() ? 0555 : 0444;
    Fd file(openat(data_.get(), name_in_copy(entry), flags, mode));
    if (!file) return os_error(printable(entry.path()));
    return file;
}

Result<void> Copy::write_from(std::size_t number, std::span<const Fd> files, Buffer& buffer) {
    const Piece& piece = pieces_[number];
    std::uint32_t crc = 0;
    std::size_t next = 0;
    for (std::uint32_t i = piece.first; i < piece.first + piece.count; ++i) {
        const Entry& entry = listing_.entries[i];
        if (entry.kind() != kFile) continue;
        const Fd& source = files[next++];
        const Fd target = TRY(file_for(i));
        const bool is_part = entry.size() > kPieceBytes;
        const Range range{piece.offset, is_part ? piece.bytes : entry.size()};
        const Result<std::uint32_t> copied =
            copy_range(source.get(), target.get(), range, crc, buffer);
        if (!copied) return failed(listing_, entry, copied.error());
        crc = *copied;
        if (!is_part) TRY(set_size(target.get(), entry));
        if (!is_as_listed(source.get(), entry)) return changed(listing_, entry);
    }
    table_->set_here(number, crc);
    return {};
}

Result<void> Copy::write(std::size_t number, std::string_view bytes, std::uint32_t crc) {
    const Piece& piece = pieces_[number];
    if (bytes.size() != piece.bytes || data::crc32c(bytes) != crc)
        return Error{ErrorCode{}, fmt::format("piece {}: the checksum does not match", number)};
    for (std::uint32_t i = piece.first; i < piece.first + piece.count; ++i) {
        const Entry& entry = listing_.entries[i];
        if (entry.kind() != kFile) continue;
        const Fd target = TRY(file_for(i));
        const bool is_part = entry.size() > kPieceBytes;
        const std::size_t size = is_part ? piece.bytes : entry.size();
        const Result<void> written =
            write_with_holes(target.get(), piece.offset, bytes.substr(0, size));
        if (!written) return failed(listing_, entry, written.error());
        if (!is_part) TRY(set_size(target.get(), entry));
        bytes.remove_prefix(size);
    }
    table_->set_here(number, crc);
    return {};
}

Result<std::string_view> Copy::read(std::size_t number, Buffer& buffer) const {
    const Piece& piece = pieces_[number];
    buffer.resize(std::max<std::size_t>(buffer.size(), piece.bytes));
    std::size_t at = 0;
    for (const Entry& entry : entries_of(piece)) {
        if (entry.kind() != kFile) continue;
        const Fd file(openat(data_.get(), name_in_copy(entry), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (!file) return os_error(printable(entry.path()));
        const std::size_t size = entry.size() > kPieceBytes ? piece.bytes : entry.size();
        TRY(read_range(file.get(), piece.offset, {buffer.data() + at, size}));
        at += size;
    }
    return std::string_view(buffer.data(), piece.bytes);
}

Result<void> Copy::finish() {
    dates_.clear();
    for (const Entry& entry : listing_.entries) {
        if (entry.kind() != kFile) continue;
        const char* path = name_in_copy(entry);
        if (entry.size() > kPieceBytes &&
            fchmodat(data_.get(), path, entry.is_program() ? 0555 : 0444, 0) != 0)
            return os_error(printable(entry.path()));
        struct stat status {};
        if (fstatat(data_.get(), path, &status, AT_SYMLINK_NOFOLLOW) != 0)
            return os_error(printable(entry.path()));
        dates_.push_back(static_cast<std::uint64_t>(nanoseconds(status.st_mtim)));
    }
    return note_verified();
}

Result<void> Copy::is_untouched() const {
    std::size_t next = 0;
    const Error damaged{ErrorCode{}, directory_ + ": a file has changed"};
    for (const Entry& entry : listing_.entries) {
        if (entry.kind() != kFile) continue;
        struct stat status {};
        if (next >= dates_.size() ||
            fstatat(data_.get(), name_in_copy(entry), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            static_cast<std::uint64_t>(status.st_size) != entry.size() ||
            static_cast<std::uint64_t>(nanoseconds(status.st_mtim)) != dates_[next++])
            return damaged;
    }
    return is_complete() ? Result<void>() : damaged;
}

Result<void> Copy::verify(unsigned threads) const {
    return data::for_all(pieces_.size(), threads, [&](std::size_t i) -> Result<void> {
        thread_local Buffer buffer;
        const std::string_view bytes = TRY(read(i, buffer));
        if (data::crc32c(bytes) == table_->crc(i)) return {};
        return Error{ErrorCode{}, fmt::format("{}: piece {} is damaged", directory_, i)};
    });
}

bool Copy::was_verified_since_boot() const {
    return boot_ == read_machine().boot_id;
}

Result<void> Copy::note_verified() {
    boot_ = read_machine().boot_id;
    return write_index();
}

}  // namespace sluice::stage
