// model/checkpoint_sync.h
//
// What --sync asks for: the files below a directory of the node are copied to a directory that
// stays. A job has its rules as text, one per line, so that requests of the same words are equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace sluice {

struct SyncRule {
    std::string local;       // as written: variables and % patterns are replaced on the node
    std::string persistent;  // the same
    Seconds every{600};
    std::optional<std::uint32_t> keep = {};  // absent: all checkpoints stay

    bool operator==(const SyncRule&) const = default;
};

// "$SCRATCH/ckpt:/data/run1,every=10m,keep=3".
Result<SyncRule> parse_sync_rule(std::string_view text);
// One on each line.
Result<std::vector<SyncRule>> parse_sync_rules(std::string_view lines);
Result<Seconds> parse_sync_interval(std::string_view text);  // "90", "10m", "1h"
Result<std::uint32_t> parse_sync_count(std::string_view text);

}  // namespace sluice
