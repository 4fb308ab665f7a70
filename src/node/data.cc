// Work on the data of a job between its Prolog and its first run here: one task after the other.
#include <utility>

#include "node/handlers.h"

namespace sluice {

bool is_after_data(const Deciding& on, JobHere& job) {
    if (job.data == JobHere::Data::Running) return false;
    if (job.data == JobHere::Data::Done || job.data_tasks_done >= job.hook.data.size()) {
        job.data = JobHere::Data::Done;
        return true;
    }
    job.data = JobHere::Data::Running;
    on.add(RunDataTask{job.hook, job.hook.data[job.data_tasks_done]});
    return false;
}

// What comes with the script is done then, although the work for the allocation is done.
void want_restore(JobHere& job) {
    const std::vector<DataTask>& tasks = job.hook.data;
    if (tasks.empty() || tasks.back().kind != DataKind::Restore) return;
    if (job.data != JobHere::Data::Done) return;
    job.data = JobHere::Data::Wanted;
    job.data_tasks_done = tasks.size() - 1;
}

void on_data_task_ended(const Deciding& on, const DataTaskEnded& event) {
    JobHere* job = on.state.find(event.job);
    if (!job || job->data != JobHere::Data::Running) return;
    job->data = JobHere::Data::Wanted;
    job->is_data_stopped = false;
    if (event.error)
        job->data_tasks_done = 0;
    else
        ++job->data_tasks_done;
    if (event.error || job->takes_no_more() || is_after_data(on, *job))
        end_preparation(on, event.job, event.error);
}

// The job is being ended.
void stop_data(const Deciding& on, const JobKey& key) {
    JobHere* job = on.state.find(key);
    if (job->data != JobHere::Data::Running) return;
    if (!std::exchange(job->is_data_stopped, true)) on.add(StopDataTask{key});
}

}  // namespace sluice
