// model/job_change.h
//
// scontrol update JobId=. The members of the request that change are in patches. The rest is not
// part of the request, or depends on the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/job.h"
#include "model/patch.h"

namespace sluice {

struct JobChange {
    Patch<JobTerms> terms;  // not its shape and its time limit
    Patch<JobDetails> details;
    Patch<Shape> shape;  // of a waiting job; a running one can only give up nodes
    std::optional<TimeLimit> time_limit;
    std::int32_t time_limit_sign = 0;  // +=: 1, -=: -1
    std::optional<Time> end_time;      // the time limit that makes the job end then
    std::optional<std::uint32_t> priority;
    std::optional<std::int32_t> site_factor;
    std::optional<std::uint32_t> array_limit;
    std::optional<std::string> admin_comment;
    std::optional<Time> last_checkpoint;
    bool gives_all_nodes = false;  // NumNodes=0: the job that it expands gets its nodes
    bool keeps_all_nodes = false;  // NumNodes=ALL of a running job

    std::size_t text_bytes() const;  // of all texts
    bool operator==(const JobChange&) const = default;
};

}  // namespace sluice
