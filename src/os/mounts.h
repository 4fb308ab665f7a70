// os/mounts.h
//
// Unmounts what a user has mounted below a directory, so that the directory can be removed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

// The mount points at a path and below it, in the order in which they were mounted, from the text
// of /proc/self/mountinfo.
std::vector<std::string> mounts_below(std::string_view mountinfo, std::string_view path);

// All that is mounted on the entry of the open directory, and below it. A server that does not
// answer does not delay it. No symbolic link is followed: what users change meanwhile leads nowhere
// else. The error names the first mount that stays.
Result<void> detach_mounts(int directory, const std::string& entry);

}  // namespace sluice
