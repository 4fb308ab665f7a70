// data/scan.h
//
// Reads shards from their beginning to their end, and verifies all they have.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/pack.h"

namespace sluice::data {

// Calls each(record, bytes of the file) in the order of the shard. Verifies the frames, the index,
// the checksums of the files and of the whole shard. The error names the shard and the record.
using EachFile = std::function<Result<void>(const Record& record, std::string_view bytes)>;
Result<void> scan_shard(const std::string& directory, const Shard& shard, Format format,
                        Progress& progress, const EachFile& each);

// A shard that has its index, as the manifest would describe it.
Result<Shard> scan_complete_shard(const std::string& directory, const std::string& name,
                                  Format format);

// All shards by several threads: what is damaged, one line for each shard; nothing if all is well.
Result<std::vector<std::string>> verify(const std::string& directory, unsigned threads,
                                        Progress& progress);

// Writes all files below `target`, which must not exist or be empty.
Result<void> unpack(const std::string& directory, const std::string& target, unsigned threads,
                    Progress& progress);

// The bytes of one file.
Result<std::string> read_one(const std::string& directory, const std::string& path);

}  // namespace sluice::data
