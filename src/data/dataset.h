// data/dataset.h
//
// A dataset in a few large files (shards): what its manifest and the indexes beside its shards say.
//
//   DIRECTORY/manifest.json                      format, counts, classes, shards with checksums
//   DIRECTORY/data-00000-of-00016.tfrecord       records one after another
//   DIRECTORY/data-00000-of-00016.tfrecord.idx   a line for each record
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::data {

enum class Format : std::uint8_t { TfRecord, WebDataset };
std::string_view format_name(Format format);       // "tfrecord", "webdataset"
std::string_view format_extension(Format format);  // "tfrecord", "tar"
Result<Format> parse_format(std::string_view name);

// One file of the source.
struct Record {
    std::string path;                      // below the source; any bytes but zero
    std::uint32_t label = 0;               // 0: it is in no class
    std::uint64_t offset = 0, length = 0;  // in the shard, with all headers
    std::uint64_t size = 0;                // of the file
    std::uint32_t crc = 0;                 // of the file
    bool operator==(const Record&) const = default;
};

struct Shard {
    std::string name;
    std::uint64_t records = 0, bytes = 0;
    std::uint32_t crc = 0, index_crc = 0;
    bool operator==(const Shard&) const = default;
};

struct Manifest {
    Format format = Format::TfRecord;
    std::uint64_t records = 0, bytes = 0;  // of the source
    std::vector<std::string> classes;      // label 1 is the first
    std::vector<Shard> shards;
    bool operator==(const Manifest&) const = default;
};

std::string print_manifest(const Manifest& manifest);
// Refuses any text that print_manifest() does not make, so that a changed bit is noticed.
Result<Manifest> parse_manifest(std::string_view text);
std::string manifest_path(const std::string& directory);
Result<Manifest> read_manifest(const std::string& directory);

// The shard is complete if its index is there: it is written last.
std::string print_index(const std::vector<Record>& records);
Result<std::vector<Record>> parse_index(std::string_view text);
std::string index_name(std::string_view shard);
// Checks it against what the manifest says.
Result<std::vector<Record>> read_index(const std::string& directory, const Shard& shard);

// A path that stays below the directory it is put in.
bool is_safe_path(std::string_view path);

}  // namespace sluice::data
