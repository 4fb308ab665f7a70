// model/filename.h
//
// Patterns in the names of job files: %A %a %b %J %j %N %n %r %S %s %t %u %x %%, with a width as in
// %5j (zero padding, at most 10). A backslash in the name turns the replacement off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/job_id.h"

namespace sluice {

struct FilenameContext {
    JobId job;
    std::optional<JobId> array_job;           // %A; the job's own id where there is no array
    std::optional<std::uint32_t> array_task;  // %a, %b (modulo 10)
    std::optional<StepId> step;    // %s; %J is "job.step" in a step, "job" in a batch script
    std::uint32_t node_index = 0;  // %n
    std::uint32_t task = 0;        // %t
    std::uint32_t restarts = 0;    // %r
    std::string node_name;         // %N, short host name
    std::string user;              // %u
    std::string job_name;          // %x
    std::string sluid;             // %S
};

std::string expand_filename(std::string_view pattern, const FilenameContext& context);
// Does every task (%t) or node (%n, %N) get a file of its own?
bool is_per_task(std::string_view pattern);
bool is_per_node(std::string_view pattern);

}  // namespace sluice
