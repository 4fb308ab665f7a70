// core/tally.h
//
// What the core counts for sdiag. The shell takes the counts after each batch and adds what only it
// can measure: times.
#pragma once

#include "model/job.h"
#include "model/statistics.h"

namespace sluice {

// What a call of schedule() did. A quick pass that is followed by a full one is a part of that.
struct PassReport {
    enum class Kind : std::uint8_t { None, Quick, Full } kind = Kind::None;
    std::uint64_t queue = 0;     // jobs in the queue before the pass
    std::uint64_t depth = 0;     // jobs that were looked at
    std::uint64_t tried = 0;     // jobs for which a place was searched
    std::uint64_t bookings = 0;  // that were made
    bool hit_max_job_test = false;
};

std::uint64_t count_of_jobs(const Job& job);  // the tasks of an array that is one record
// The job has ended for good.
void count_end(const Job& job, JobTally& tally);

}  // namespace sluice
