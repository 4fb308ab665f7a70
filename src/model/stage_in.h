// model/stage_in.h
//
// --stage-in: datasets that are on each node of a job before it starts, as $SCRATCH/NAME. The
// request has them as a text: "SRC:NAME" or "SRC:NAME,stream", one per line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

constexpr std::size_t kStageInCount = 64;  // of one job

struct StageIn {
    std::string source;      // an absolute path
    std::string name;        // of the entry of $SCRATCH
    bool is_stream = false;  // the job starts when the first shard is there
    bool operator==(const StageIn&) const = default;
};

// "SRC[:NAME][,stream]". A relative source is one in `directory`.
Result<StageIn> parse_stage_in(std::string_view value, std::string_view directory);
// The text with one more; an error if the name is there already.
Result<std::string> with_stage_in(const std::string& text, const StageIn& added);
// From outside: every line is checked.
Result<std::vector<StageIn>> parse_stage_ins(std::string_view text);
// "/data/a:a,/data/b:b,stream"
std::string shown_stage_ins(std::string_view text);

// What nodes call a source when they say what is in their cache.
std::uint64_t source_hash(std::string_view source);

// Of slurmd, for sdata stage. Several clusters on a host may have nodes of one name, but not below
// one directory for scratch directories.
std::string stage_socket(std::string_view node, std::string_view scratch_base);

// Phases of DataProgress.
constexpr std::string_view kStageListing = "LISTING";  // reads the names and sizes of the source
constexpr std::string_view kStageCopying = "STAGING";
constexpr std::string_view kStageStreaming = "STREAMING";  // the job runs already
constexpr std::string_view kStageReady = "READY";

}  // namespace sluice
