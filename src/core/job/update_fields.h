// core/job/update_fields.h
//
// The fields of scontrol update JobId=, one row for each that can change. They are set in a draft
// of the job: all are checked before any takes effect.
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

Result<void> set_job_field(JobDraft& draft, const std::string& key, const std::string& value);

}  // namespace sluice
