// data/pack.h
//
// Converts a tree of files into shards, an index for each, and a manifest, with several threads. If
// it is interrupted, it continues with the shards that are missing. It never overwrites a dataset.
#pragma once

#include <atomic>
#include <string>

#include "data/plan.h"

namespace sluice::data {

// Written by the threads that work, read by the one that shows it.
struct Progress {
    std::atomic<std::uint64_t> records = 0, bytes = 0;
    std::atomic<std::uint64_t> records_total = 0, bytes_total = 0;
    std::atomic<std::uint64_t> bytes_kept = 0;  // done by an earlier call
    std::atomic<bool> is_interrupted = false;   // set by the caller: stop soon
};

struct PackRequest {
    std::string source, target;  // directories
    PackOptions options;
    unsigned threads = 2;
};
Result<Manifest> pack(const PackRequest& request, Progress& progress);

}  // namespace sluice::data
