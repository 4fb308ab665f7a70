// os/cgroup_kill.h
//
// All that runs in a cgroup, and in those that its processes have made below it (container runtimes
// do): how it is counted, frozen, killed and removed. Cgroup v1 and v2 alike.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sluice {

std::vector<pid_t> pids_in_cgroup(const std::string& directory);
bool freeze_cgroup(const std::string& directory, bool on);  // false: there is no freezer
void kill_cgroup(const std::string& directory);             // one round; also what is frozen
bool remove_cgroup(const std::string& directory);           // false: something is still inside

}  // namespace sluice
