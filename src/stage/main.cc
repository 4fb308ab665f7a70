// sluice-stage: brings the datasets of a job to this node (--stage-in). Started by slurmd, which
// gives it one end of a socket pair as descriptor 3.
#include <sys/resource.h>

#include "stage/cache.h"
#include "stage/channel.h"
#include "stage/serve.h"
#include "stage/staging.h"
#include "stage/tidy.h"

namespace {

using namespace sluice;
using namespace sluice::stage;

// Each thread has the files of a piece open, in two processes.
void raise_file_limit() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

void report_end(ReportLine& line, const Result<void>& done) {
    wire::StageReport report;
    if (done)
        report.mutable_ready();
    else
        report.set_failed(done.error().detail.empty() ? "unknown failure" : done.error().detail);
    line.send(report);
}

}  // namespace

int main() {
    ReportLine line{Fd(kLine)};
    const Result<wire::StageJob> job = receive_message<wire::StageJob>(kLine);
    if (!job) return 1;
    raise_file_limit();
    if (job->has_tidy()) {
        tidy(job->tidy(), line);
        return 0;
    }
    if (job->has_serve()) {
        serve(job->serve().cache(), line.socket());
        return 0;
    }
    Staging staging(job->stage(), line);
    const Result<void> done = staging.run();
    report_sources(job->stage().cache(), line);
    report_end(line, done);
    return done ? 0 : 1;
}
