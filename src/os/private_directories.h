// os/private_directories.h
//
// Directories of a process tree that hide those of the machine: a mount namespace in which some
// paths show other directories.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

struct PrivateDirectory {
    std::string source;  // what is seen
    std::string path;    // where
};

// For this process, which must have one thread, and all that it starts from now on. With `shared`,
// what is mounted on the machine later appears there too.
Result<void> enter_private_directories(const std::vector<PrivateDirectory>& directories,
                                       bool shared);

Result<void> mount_memory(const std::string& path);  // an empty tmpfs
void unmount(const std::string& path);  // also if it is in use; nothing if it is not mounted

}  // namespace sluice
