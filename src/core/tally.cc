#include "core/tally.h"

namespace sluice {

std::uint64_t count_of_jobs(const Job& job) {
    return is_array_record(job) ? job.array_tasks.size() : 1;
}

// Compat: a job that failed by itself counts as completed; "failed" is about failures of the
// cluster.
void count_end(const Job& job, JobTally& tally) {
    const bool is_lost = job.state == JobState::NodeFail ||
                         (job.state == JobState::Failed && job.reason == Reason::JobLaunchFailure);
    const auto count = job.state == JobState::Cancelled ? &JobTally::cancelled
                       : is_lost                        ? &JobTally::failed
                                                        : &JobTally::completed;
    tally.*count += count_of_jobs(job);
}

}  // namespace sluice
