// os/self.h
//
// Properties of this process: number of open files, user, nice value.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "os/user.h"

namespace sluice {

// Raises the limit of open files towards `wanted`; how many may be open now.
std::size_t raise_file_limit(std::size_t wanted);

// For good: user, group and all groups of that user, and HOME. Nothing to do when we are that user
// already.
Result<void> become(const User& user);

// As root, before become(user): creates the file (or directory) if it is missing and makes `user`
// its owner, because the user may not be allowed to create it. Failures show when it is used.
enum class Made { File, Directory };
void make_for(const User& user, const std::string& path, Made what);

Result<void> set_nice(int value);
// The same for the session that we lead: the kernel may give each session its share first
// (autogroups), and what set_nice() says counts only within it.
void set_session_nice(int value);

}  // namespace sluice
