// model/task_bind.h
//
// What --cpu-bind and --mem-bind ask for: how the tasks of a step are bound to the CPUs and to the
// memory of their node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

using Numbers = std::vector<std::uint32_t>;  // of CPUs, GPUs or NUMA domains, ascending

enum class BindKind : std::uint8_t {
    Unset,
    None,
    Rank,
    Local,  // memory only
    Map,
    Mask,
    Threads,  // from here on CPUs only
    Cores,
    Sockets,
    Domains,
    DomainRank,
    DomainMap,
    DomainMask,
};

struct TaskBind {
    BindKind kind = BindKind::Unset;
    bool verbose = false;
    bool prefer = false;          // memory only: other domains may be used too
    std::string list = {};        // of a map or mask, as written
    std::vector<Numbers> listed;  // the same by the task's index on its node, repeated
    bool operator==(const TaskBind&) const = default;
};

// "[quiet|verbose,]none|cores|map_cpu:0,1*2|mask_cpu:0x3,c ...". An error's detail is Slurm's.
Result<TaskBind> parse_cpu_bind(std::string_view text);
// "[quiet|verbose,][prefer,]none|local|rank|map_mem:0,1|mask_mem:0x3".
Result<TaskBind> parse_mem_bind(std::string_view text);

// The word of a kind, as the options write it: "cores", "map_cpu:"; empty for Unset.
std::string_view cpu_bind_word(BindKind kind);
std::string_view mem_bind_word(BindKind kind);

// "0,1*2" and "0x3,c*2": at most so large numbers. Entries may be repeated.
Result<std::vector<Numbers>> parse_bind_map(std::string_view list, std::uint32_t most,
                                            bool may_be_hex);
Result<std::vector<Numbers>> parse_bind_mask(std::string_view list, std::uint32_t most);

// "0x3" for {0, 1}; with at least so many digits.
std::string print_mask(const Numbers& numbers, std::size_t digits = 1);

}  // namespace sluice
