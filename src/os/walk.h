// os/walk.h
//
// All entries of a directory tree, read by several threads: a tree of many small files on a file
// server is waiting time. Symbolic links are not followed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace sluice {

struct TreeEntry {
    std::string path;  // below the root, without a leading slash
    enum class Kind : std::uint8_t { File, Directory, Link, Other } kind = Kind::Other;
    std::uint64_t size = 0;
    std::uint64_t disk_bytes = 0;
    std::uint64_t device = 0, inode = 0, links = 0;
    std::int64_t changed_ns = 0;  // time of the last change of the content
    std::int64_t altered_ns = 0;  // or of anything else of it
    std::uint32_t mode = 0;
    std::uint32_t owner = 0;
};

struct WalkOptions {
    unsigned threads = 4;
    bool one_file_system = false;  // leave out what is mounted below the root
    // Called, from several threads, for a directory below the root that cannot be read; the rest of
    // the tree is read then. Without it the walk stops there.
    std::function<void(const Error&)> on_unreadable = {};
};

// Calls each(entry) for all entries below the root, in no order, from several threads; it stops at
// the first entry that cannot be read, and returns that error.
Result<void> walk_tree(const std::string& root, const WalkOptions& options,
                       const std::function<void(TreeEntry)>& each);

}  // namespace sluice
