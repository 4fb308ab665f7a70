#include "data/shard_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "data/crc32c.h"
#include "data/tar.h"
#include "data/tfrecord.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice::data {

namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr const char* kPart = ".part";

}  // namespace

Result<ShardWriter> ShardWriter::create(const std::string& directory, std::string name) {
    std::string path = directory + "/" + name;
    Fd file(open((path + kPart).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file) return os_error(path);
    return ShardWriter(std::move(path), std::move(name), std::move(file));
}

Result<void> ShardWriter::flush() {
    crc_ = crc32c(buffer_, crc_);
    if (!write_all(file_.get(), buffer_)) return os_error(path_);
    written_ += buffer_.size();
    buffer_.clear();
    return {};
}

Result<void> ShardWriter::add(Format format, const SourceFile& file, std::string_view class_name,
                              std::string_view bytes) {
    const std::uint64_t offset = written_ + buffer_.size();
    if (format == Format::TfRecord)
        append_example(buffer_, file.path, {file.label, class_name}, bytes);
    else
        append_tar_member(buffer_, file.path, bytes);
    records_.push_back({.path = file.path,
                        .label = file.label,
                        .offset = offset,
                        .length = written_ + buffer_.size() - offset,
                        .size = bytes.size(),
                        .crc = crc32c(bytes)});
    return buffer_.size() < kBuffer ? Result<void>{} : flush();
}

Result<Shard> ShardWriter::finish(Format format) {
    if (format == Format::WebDataset) buffer_ += tar_end();
    TRY(flush());
    if (fsync(file_.get()) != 0 || std::rename((path_ + kPart).c_str(), path_.c_str()) != 0)
        return os_error(path_);
    const std::string index = print_index(records_);
    TRY(write_file_atomically(index_name(path_), index, {.durable = true}));
    return Shard{.name = name_,
                 .records = records_.size(),
                 .bytes = written_,
                 .crc = crc_,
                 .index_crc = crc32c(index)};
}

}  // namespace sluice::data
