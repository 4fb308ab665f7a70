// stage/fetch.h
//
// Brings all pieces of a dataset to this node, by several threads: from the source, and from other
// nodes that have them.
#pragma once

#include <atomic>
#include <functional>

#include "stage.pb.h"
#include "stage/copy.h"
#include "stage/reader.h"

namespace sluice::stage {

// Read by the thread that reports.
struct Counters {
    std::atomic<std::uint64_t> done = 0, total = 0;  // bytes on this node
    std::atomic<std::uint64_t> read = 0;             // from the source
};

constexpr unsigned kFetchThreads = 8;

// Called by any thread when a piece is here.
using OnPiece = std::function<void(std::size_t)>;

// Each of the threads that read the source has a channel of the reader. `key` is the name of the
// copy in the caches of all nodes.
Result<void> fetch_all(const wire::StageOrder& order, const std::string& key, Copy& copy,
                       SourceReader& reader, Counters& counters, const OnPiece& on_piece);

}  // namespace sluice::stage
