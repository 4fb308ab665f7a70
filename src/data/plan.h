// data/plan.h
//
// Which file goes into which shard. Pure: the same files and options give the same plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace sluice::data {

struct SourceFile {
    std::string path;  // below the source
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;
    std::uint32_t label = 0;
};

struct PackOptions {
    Format format = Format::TfRecord;
    std::string prefix = "data";
    std::uint64_t shard_size = std::uint64_t{256} << 20;
    bool shuffled = true;
    std::uint64_t seed = 0;
};

struct ShardPlan {
    std::string name;
    std::vector<SourceFile> files;
};

struct PackPlan {
    Format format = Format::TfRecord;
    std::vector<std::string> classes;
    std::vector<ShardPlan> shards;
    std::uint64_t records = 0, bytes = 0;
    // Changes with the options and with any name, size or time of the source.
    std::uint32_t fingerprint = 0;
};

// The class of a file is the name of its directory; files directly in the source have none. Files
// of one sample of a WebDataset (a.jpg, a.json) stay together.
Result<PackPlan> make_plan(std::vector<SourceFile> files, const PackOptions& options);

// Of a WebDataset: the path without the extensions.
std::string_view sample_key(std::string_view path);

}  // namespace sluice::data
