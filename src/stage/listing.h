// stage/listing.h
//
// What is to be staged: the entries of a source, which name it has in the cache, and the pieces in
// which it is copied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stage.pb.h"

namespace sluice::stage {

using Entry = wire::ListedEntry;
enum EntryKind : std::uint32_t { kFile, kDirectory, kLink };

struct Listing {
    std::string source;          // as the job asked for it
    std::string path;            // without symbolic links
    std::vector<Entry> entries;  // sorted by path; of a source that is a file one without a path
    std::uint64_t bytes = 0;
    std::uint64_t disk_bytes = 0;  // without holes

    bool is_one_file() const { return entries.size() == 1 && entries.front().path().empty(); }
};

// Sorts, and adds up.
void complete(Listing& listing);

// The name of this content in the cache: equal only for the same path with the same entries, which
// no other user can imitate, because inode numbers and times of change are among them.
std::string key_of(const Listing& listing);

// A part of one large file, or several small files.
struct Piece {
    std::uint32_t first = 0, count = 1;  // entries; what is no file among them has no bytes
    std::uint64_t offset = 0, bytes = 0;
    bool operator==(const Piece&) const = default;
};
constexpr std::uint64_t kPieceBytes = 8u << 20;
constexpr std::uint32_t kPieceFiles = 64;

// In the order of the entries, small files first: those that describe a dataset are among them.
std::vector<Piece> pieces_of(const Listing& listing);

// Whether a symbolic link at `path` leads to a place in the same tree.
bool stays_inside(std::string_view path, std::string_view target);

// For messages: with \n and other control characters escaped.
std::string printable(std::string_view path);

}  // namespace sluice::stage
