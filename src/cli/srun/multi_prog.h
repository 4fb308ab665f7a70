// cli/srun/multi_prog.h
//
// --multi-prog: a file that says which program each task of the step runs. A line has numbers of
// tasks ("0-2,5", or "*" for all others) and a program with arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire.pb.h"

namespace sluice {

struct TaskProgram {
    std::vector<std::string> argv;
    std::vector<std::uint32_t> tasks;  // ascending
};

// For a step of so many tasks, each of which has a program. `file` is named in errors; `more`
// arguments follow those of each program. In arguments %t is the number of the task and %o its
// place in the line; ' quotes and \ takes one character as it is.
Result<std::vector<TaskProgram>> read_programs(std::string_view text, const std::string& file,
                                               std::uint32_t tasks,
                                               const std::vector<std::string>& more);

// The first word of the command is the file, the others are arguments of all programs.
Result<void> add_programs(const std::vector<std::string>& command, std::uint32_t tasks,
                          wire::TaskSpec& spec);

}  // namespace sluice
