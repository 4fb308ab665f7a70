// stepd/run_to_end.h
//
// Programs that the process of a task runs before or after the task, one after the other.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct ProgramOutcome {
    int exit_code = 0;   // 1 for what did not exit by itself
    std::string output;  // both outputs, to their ends
};

// `program` is a path. Blocks for as long as the program takes.
ProgramOutcome run_to_end(const std::string& program, const std::vector<std::string>& argv,
                          const std::vector<std::string>& environment);

}  // namespace sluice
