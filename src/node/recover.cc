// Runs of an earlier slurmd: those that run are kept, those that ended are reported.
#include "node/handlers.h"

namespace sluice {

void on_spool_read(const Deciding& on, const SpoolRead& event) {
    // All of them first: whether a job is clean can only be said when every run of it is known, and
    // the end of one may be the end of the others.
    for (const FoundRun& found : event.runs) {
        JobHere& job = on.state.jobs[found.run.job];
        job.prolog = JobHere::Prolog::Done;
        job.data = JobHere::Data::Done;
        job.hook = found.job;
        job.has_run = true;
        job.runs[found.run.step].is_supervised = found.is_supervised;
    }
    for (const FoundRun& found : event.runs) {
        if (!found.is_supervised) on_supervisor_gone(on, {found.run, found.end});
    }
}

}  // namespace sluice
