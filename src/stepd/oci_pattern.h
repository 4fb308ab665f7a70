// stepd/oci_pattern.h
//
// The patterns of oci.conf: what stands for what in the commands of the runtime, and which
// variables it and the container get. Pure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct OciFacts {
    std::string bundle;             // %b, %m: the directory that was made for the task
    std::string env_file;           // %e
    std::string root;               // %r: the file system of the container
    std::string node, user;         // %n, %u
    std::uint32_t uid = 0;          // %U
    std::uint32_t job = 0;          // %j
    std::uint32_t step = 0;         // %s
    std::uint32_t task = 0;         // %t
    pid_t pid = 0;                  // %p: the process that runs the task
    std::vector<std::string> argv;  // %@: each in quotes
};

std::string expand_oci_pattern(std::string_view pattern, const OciFacts& facts);

// 'it'\''s': one word for a shell, whatever is in it.
std::string quoted_for_shell(std::string_view word);

// Without the entries "NAME=value" that match the extended regular expression; empty: all.
std::vector<std::string> without_matching(std::vector<std::string> entries,
                                          const std::string& expression);

}  // namespace sluice
