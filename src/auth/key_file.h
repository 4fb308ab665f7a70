// auth/key_file.h
//
// Files that hold secrets. A file that another user owns, can read or can change is refused; files
// are written with mode 0600.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/job.h"

namespace sluice {

struct KeyFile {
    std::string path;
    std::string what;  // "the key of AuthType=auth/slurm": for errors
    std::size_t size_min = 0;
    bool group_may_read = false;
    std::optional<UserId> owner = {};  // may own it, besides root and the user of this process
};

constexpr std::size_t kKeySizeMax = 64u << 10;

Result<std::string> read_key(const KeyFile& file);
// Whole or not at all; a file of that name that exists already is not touched.
Result<void> write_key(const KeyFile& file, const std::string& key);

}  // namespace sluice
