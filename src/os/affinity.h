// os/affinity.h
//
// On which CPUs a process runs and from which NUMA domains it takes its memory. Both are inherited
// by new processes and programs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace sluice {

// False, with errno: none of them can be used.
bool set_cpus(pid_t pid, const std::vector<std::uint32_t>& cpus);
std::vector<std::uint32_t> cpus_of(pid_t pid);

enum class MemoryPolicy : std::uint8_t { Local, Bind, Prefer };
// Of this process; `domains` are for Bind, and the first one for Prefer.
bool set_memory_policy(MemoryPolicy policy, const std::vector<std::uint32_t>& domains);
std::vector<std::uint32_t> memory_domains();  // that this process may use

}  // namespace sluice
