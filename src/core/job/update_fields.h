// core/job/update_fields.h
//
// Applies scontrol update JobId= to a draft of the job: all is checked before anything takes
// effect.
#pragma once

#include <optional>
#include <string>

#include "core/cluster.h"
#include "core/permission.h"

namespace sluice {

struct JobDraft {
    Job job;
    JobRequest request;
    Role role = Role::Other;  // of the caller
    Time now;
    const Cluster& cluster;
    std::optional<JobId> handed_to = {};  // the job that gets all its nodes
};

// Checks what depends on the job, the caller and the cluster.
Result<void> apply_change(JobDraft& draft, const JobChange& change);

}  // namespace sluice
