// data/shard_writer.h
//
// Writes one shard and then its index. Both get their names only when they are complete.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/plan.h"
#include "os/fd.h"

namespace sluice::data {

class ShardWriter {
public:
    static Result<ShardWriter> create(const std::string& directory, std::string name);

    Result<void> add(Format format, const SourceFile& file, std::string_view class_name,
                     std::string_view bytes);
    Result<Shard> finish(Format format);

private:
    ShardWriter(std::string path, std::string name, Fd file)
        : path_(std::move(path)), name_(std::move(name)), file_(std::move(file)) {}
    Result<void> flush();

    std::string path_, name_;
    Fd file_;
    std::string buffer_;
    std::uint64_t written_ = 0;
    std::uint32_t crc_ = 0;
    std::vector<Record> records_;
};

}  // namespace sluice::data
