// model/job_change_fields.h
//
// The members of a change of a job. See fields.h.
#pragma once

#include "model/job_change.h"
#include "model/job_fields.h"

namespace sluice {

template <>
inline constexpr auto kFields<JobChange> = fields<JobChange>(
    field(1, "request", &JobChange::terms), field(2, "request", &JobChange::details),
    field(3, "request", &JobChange::shape), field(4, "TimeLimit", &JobChange::time_limit),
    field(5, "TimeLimit", &JobChange::time_limit_sign, at_most(1)),
    field(6, "EndTime", &JobChange::end_time), field(7, "Priority", &JobChange::priority),
    field(8, "SiteFactor", &JobChange::site_factor, at_most(kNiceMax)),
    field(9, "ArrayTaskThrottle", &JobChange::array_limit),
    field(10, "AdminComment", &JobChange::admin_comment),
    field(11, "LastCheckpoint", &JobChange::last_checkpoint),
    field(12, "NumNodes", &JobChange::gives_all_nodes),
    field(13, "NumNodes", &JobChange::keeps_all_nodes));

static_assert(numbers_differ<JobChange>());

}  // namespace sluice
