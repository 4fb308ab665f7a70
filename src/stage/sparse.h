// stage/sparse.h
//
// Parts of files with their holes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::stage {

struct Range {
    std::uint64_t offset = 0, bytes = 0;
};

// Copies a range to the same place of another file. Returns the checksum of the range, whose holes
// count as zeros, after `before`.
Result<std::uint32_t> copy_range(int source, int target, Range range, std::uint32_t before,
                                 std::vector<char>& buffer);
// Blocks of zeros are not written: the file has a hole there, or nothing yet.
Result<void> write_with_holes(int file, std::uint64_t offset, std::string_view bytes);
Result<void> read_range(int file, std::uint64_t offset, std::span<char> bytes);

}  // namespace sluice::stage
