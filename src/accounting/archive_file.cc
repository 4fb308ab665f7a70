// accounting/archive_file.cc
//
// See archive_file.h.
#include "accounting/archive_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "model/errors.h"
#include "os/files.h"
#include "protocol/field_codec.h"

namespace sluice::accounting {

namespace {

constexpr std::string_view kFirstLine = "SLUICE ARCHIVE 1\n";
constexpr std::size_t kBuffer = 1u << 20;

Error damaged(const std::string& path, std::string_view why) {
    return {ErrorCode::BadArgument, fmt::format("{}: {}", path, why)};
}

struct Record {
    ArchivedKind kind{};
    std::string_view bytes;
};

// Takes a record from the beginning; nothing if it is incomplete.
std::optional<Record> take_record(std::string_view& rest) {
    std::uint64_t size = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (rest.empty()) return std::nullopt;
        const auto byte = static_cast<unsigned char>(rest.front());
        rest.remove_prefix(1);
        size |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) break;
    }
    if (rest.empty() || size > rest.size() - 1) return std::nullopt;
    const Record record{static_cast<ArchivedKind>(rest.front()), rest.substr(1, size)};
    rest.remove_prefix(1 + size);
    return record;
}

}  // namespace

ArchiveWriter::~ArchiveWriter() {
    if (file_) unlink((path_ + ".new").c_str());
}

Error ArchiveWriter::failed() const {
    return {ErrorCode::StoreFailed,
            fmt::format("{}: the archive cannot be written: {}", path_, strerror(errno))};
}

Result<void> ArchiveWriter::open() {
    // An archive is never overwritten.
    const std::string wanted = path_;
    for (int number = 2; access(path_.c_str(), F_OK) == 0; ++number) {
        path_ = fmt::format("{}-{}", wanted, number);
    }
    // Jobs of all users: for the administrator only.
    const std::string fresh = path_ + ".new";
    file_ = Fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file_) return failed();
    buffer_ = kFirstLine;
    return {};
}

Result<void> ArchiveWriter::flush() {
    if (!write_all(file_.get(), buffer_)) return failed();
    buffer_.clear();
    return {};
}

Result<void> ArchiveWriter::put(ArchivedKind kind, std::string_view bytes) {
    if (!file_) TRY(open());
    field_codec::put_varint(bytes.size(), buffer_);
    buffer_.push_back(static_cast<char>(kind));
    buffer_ += bytes;
    ++records_;
    return buffer_.size() < kBuffer ? Result<void>() : flush();
}

Result<void> ArchiveWriter::finish() {
    if (!file_) return {};
    const std::uint64_t records = records_;
    TRY(put(ArchivedKind::End, std::to_string(records)));
    TRY(flush());
    if (fsync(file_.get()) != 0) return failed();
    if (rename((path_ + ".new").c_str(), path_.c_str()) != 0) return failed();
    file_.reset();
    const Fd directory(::open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory || fsync(directory.get()) != 0) return failed();
    return {};
}

Result<void> read_archive(
    const std::string& path,
    const std::function<Result<void>(ArchivedKind kind, std::string_view bytes)>& each) {
    const std::string content = TRY(read_file(path));
    if (!content.starts_with(kFirstLine)) return damaged(path, "this is no archive of accounting");
    const std::string_view records = std::string_view(content).substr(kFirstLine.size());
    std::uint64_t count = 0;
    std::string_view rest = records;
    for (bool is_complete = false; !is_complete; ++count) {
        const std::optional<Record> record = take_record(rest);
        if (!record) return damaged(path, "the archive is incomplete");
        if (record->kind > ArchivedKind::Script)
            return damaged(path, "the archive has records of a newer version");
        is_complete = record->kind == ArchivedKind::End;
        if (is_complete && record->bytes != std::to_string(count))
            return damaged(path, "the archive is damaged: records are missing");
    }
    if (!rest.empty()) return damaged(path, "the archive is damaged: it has bytes after its end");
    rest = records;
    while (--count > 0) {
        const Record record = *take_record(rest);
        TRY(each(record.kind, record.bytes));
    }
    return {};
}

}  // namespace sluice::accounting
