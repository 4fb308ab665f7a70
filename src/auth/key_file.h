// auth/key_file.h
//
// Files that hold secrets: read only when nobody else can, written so that nobody else ever could.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace sluice {

struct KeyFile {
    std::string path;
    std::string what;  // "the key of AuthType=auth/slurm": for errors
    std::size_t size_min = 0;
    bool group_may_read = false;
};

constexpr std::size_t kKeySizeMax = 64u << 10;

Result<std::string> read_key(const KeyFile& file);
// Mode 0600, whole or not at all; somebody else's file of that name is not touched.
Result<void> write_key(const KeyFile& file, const std::string& key);

}  // namespace sluice
