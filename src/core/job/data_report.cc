// What nodes report of the files of a job: a checkpoint is saved (--sync), or something went wrong.
#include <algorithm>

#include "core/edit.h"
#include "core/job/verbs.h"

namespace sluice {

void on_data_reported(Cluster& cluster, Time now, const DataReported& event) {
    const auto found = cluster.find_job(event.run.job);
    if (!found || found->run.restarts != event.run.restarts || !found->run.allocation) return;
    if (!found->run.allocation->find(event.node)) return;  // not a node of the job
    if (!is_live(*found) && !is_completing(*found)) return;
    const Edit<Job> job = cluster.edit_job(found->id);
    Run& run = job->run;
    if (!event.problem.empty()) run.data_problem = event.problem;
    if (!event.saved || !run.start_time) return;
    const Time saved = std::min(*event.saved, now);  // the clocks of nodes may differ
    // A checkpoint of an earlier run saves nothing of this one.
    if (saved < *run.start_time) return;
    run.last_checkpoint = std::max(saved, run.last_checkpoint.value_or(saved));
}

}  // namespace sluice
