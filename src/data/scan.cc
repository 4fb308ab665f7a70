#include "data/scan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>

#include "data/crc32c.h"
#include "data/parallel.h"
#include "data/tar.h"
#include "data/tfrecord.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice::data {

namespace {

class ShardFile {
public:
    static Result<ShardFile> open_file(const std::string& path) {
        Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file) return os_error(path);
        posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
        return ShardFile(path, std::move(file));
    }
    Result<std::uint64_t> size() const {
        struct stat found {};
        if (fstat(file_.get(), &found) != 0) return os_error(path_);
        return static_cast<std::uint64_t>(found.st_size);
    }
    // Exactly this part of the file.
    Result<void> read_at(std::uint64_t offset, std::uint64_t length, std::string& bytes) const {
        bytes.resize(length);
        for (std::uint64_t got = 0; got < length;) {
            const ssize_t count = pread(file_.get(), bytes.data() + got, length - got,
                                        static_cast<off_t>(offset + got));
            if (count < 0) return os_error(path_);
            if (count == 0) return Error{{}, fmt::format("{} ends early", path_)};
            got += static_cast<std::uint64_t>(count);
        }
        return {};
    }

private:
    ShardFile(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}
    std::string path_;
    Fd file_;
};

// The file in a frame or member, which `holder` may have to keep.
Result<std::string_view> content_of(Format format, const Record& record, std::string_view bytes,
                                    std::string& holder) {
    std::string path;
    std::string_view content;
    if (format == Format::TfRecord) {
        StoredFile file = TRY(file_of_example(TRY(frame_content(bytes))));
        holder = std::move(file.bytes);
        path = std::move(file.path);
        content = holder;
    } else {
        TarMember member = TRY(read_tar_member(bytes));
        path = std::move(member.path);
        content = member.bytes;
    }
    if (path != record.path) return Error{{}, fmt::format("it is the file {}", path)};
    if (content.size() != record.size || crc32c(content) != record.crc)
        return Error{{}, "the checksum of the file does not match"};
    return content;
}

Error at_record(const std::string& shard, const Record& record, const Error& error) {
    return Error{{},
                 fmt::format("{}: {} at {}: {}", shard, record.path, record.offset, error.detail)};
}

std::uint64_t end_size(Format format) {
    return format == Format::WebDataset ? tar_end().size() : 0;
}

// The index describes all of the shard, without gaps.
Result<void> check_layout(const Shard& shard, Format format, const std::vector<Record>& records) {
    std::uint64_t at = 0;
    for (const Record& record : records) {
        if (record.offset != at || record.length > shard.bytes - at)
            return Error{{}, fmt::format("{}: the index has a gap at {}", shard.name, at)};
        at += record.length;
    }
    if (at + end_size(format) != shard.bytes || records.size() != shard.records)
        return Error{{}, fmt::format("{}: it does not end where its index does", shard.name)};
    return {};
}

Result<void> scan_records(const std::string& directory, const Shard& shard, Format format,
                          const std::vector<Record>& records, Progress& progress,
                          const EachFile& each) {
    const ShardFile file = TRY(ShardFile::open_file(directory + "/" + shard.name));
    const std::uint64_t size = TRY(file.size());
    if (size != shard.bytes) {
        return Error{
            {}, fmt::format("{}: it has {} bytes instead of {}", shard.name, size, shard.bytes)};
    }
    TRY(check_layout(shard, format, records));
    std::uint32_t crc = 0;
    std::string bytes, holder;
    for (const Record& record : records) {
        if (progress.is_interrupted) return Error{{}, "interrupted"};
        TRY(file.read_at(record.offset, record.length, bytes));
        crc = crc32c(bytes, crc);
        Result<std::string_view> content = content_of(format, record, bytes, holder);
        if (!content) return at_record(shard.name, record, content.error());
        TRY(each(record, *content));
        ++progress.records;
        progress.bytes += record.size;
    }
    TRY(file.read_at(shard.bytes - end_size(format), end_size(format), bytes));
    if (crc32c(bytes, crc) != shard.crc)
        return Error{{}, fmt::format("{}: its checksum is not that of the manifest", shard.name)};
    return {};
}

Result<void> keep(const std::string& target, const Record& record, std::string_view bytes) {
    if (!is_safe_path(record.path))
        return Error{{}, fmt::format("{}: a path outside of the target", record.path)};
    const std::string path = target + "/" + record.path;
    TRY(make_directories(directory_of(path)));
    const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file || !write_all(file.get(), bytes)) return os_error(path);
    return {};
}

void expect(const Manifest& manifest, Progress& progress) {
    progress.records_total = manifest.records;
    progress.bytes_total = manifest.bytes;
}

}  // namespace

Result<void> scan_shard(const std::string& directory, const Shard& shard, Format format,
                        Progress& progress, const EachFile& each) {
    return scan_records(directory, shard, format, TRY(read_index(directory, shard)), progress,
                        each);
}

Result<Shard> scan_complete_shard(const std::string& directory, const std::string& name,
                                  Format format) {
    const std::string index = TRY(read_file(directory + "/" + index_name(name)));
    const std::vector<Record> records = TRY(parse_index(index));
    const std::uint64_t end = records.empty() ? 0 : records.back().offset + records.back().length;
    Shard shard{.name = name,
                .records = records.size(),
                .bytes = end + end_size(format),
                .crc = 0,
                .index_crc = crc32c(index)};
    const ShardFile file = TRY(ShardFile::open_file(directory + "/" + name));
    std::string bytes;
    TRY(check_layout(shard, format, records));
    if (TRY(file.size()) != shard.bytes) return Error{{}, "its size is wrong"};
    std::string holder;
    for (const Record& record : records) {
        TRY(file.read_at(record.offset, record.length, bytes));
        shard.crc = crc32c(bytes, shard.crc);
        TRY(content_of(format, record, bytes, holder));
    }
    TRY(file.read_at(end, end_size(format), bytes));
    shard.crc = crc32c(bytes, shard.crc);
    return shard;
}

Result<std::vector<std::string>> verify(const std::string& directory, unsigned threads,
                                        Progress& progress) {
    const Manifest manifest = TRY(read_manifest(directory));
    expect(manifest, progress);
    std::vector<std::string> damage(manifest.shards.size());
    TRY(for_all(manifest.shards.size(), threads, [&](std::size_t i) -> Result<void> {
        auto ignore = [](const Record&, std::string_view) { return Result<void>{}; };
        Result<void> scanned =
            scan_shard(directory, manifest.shards[i], manifest.format, progress, ignore);
        if (!scanned) damage[i] = scanned.error().detail;
        return {};
    }));
    std::erase(damage, "");
    return damage;
}

Result<void> unpack(const std::string& directory, const std::string& target, unsigned threads,
                    Progress& progress) {
    const Manifest manifest = TRY(read_manifest(directory));
    expect(manifest, progress);
    if (!list_directory(target).empty()) return Error{{}, fmt::format("{} is not empty", target)};
    TRY(make_directories(target));
    return for_all(manifest.shards.size(), threads, [&](std::size_t i) {
        return scan_shard(directory, manifest.shards[i], manifest.format, progress,
                          [&](const Record& record, std::string_view bytes) {
                              return keep(target, record, bytes);
                          });
    });
}

Result<std::string> read_one(const std::string& directory, const std::string& path) {
    const Manifest manifest = TRY(read_manifest(directory));
    for (const Shard& shard : manifest.shards) {
        for (const Record& record : TRY(read_index(directory, shard))) {
            if (record.path != path) continue;
            const ShardFile file = TRY(ShardFile::open_file(directory + "/" + shard.name));
            std::string bytes, holder;
            TRY(file.read_at(record.offset, record.length, bytes));
            Result<std::string_view> content = content_of(manifest.format, record, bytes, holder);
            if (!content) return at_record(shard.name, record, content.error());
            return std::string(*content);
        }
    }
    return Error{{}, fmt::format("{} has no file {}", directory, path)};
}

}  // namespace sluice::data
