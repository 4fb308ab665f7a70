// cli/scontrol/wait_job.cc
//
// wait_job: until a job and its nodes are ready.
#include <thread>

#include "cli/common/listing.h"
#include "cli/scontrol/session.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/states.h"

namespace sluice {

namespace {

constexpr std::chrono::seconds kLookInterval{1};

Result<ShownState> state_of(Session& session, const JobRef& job) {
    const Table table =
        TRY(fetch_table(session.client, TableKind::Jobs, {static_cast<ColumnId>(JobColumn::State)},
                        {.jobs = {job}, .all_states = true, .include_hidden = true}));
    if (table.rows() == 0) return Error{ErrorCode::InvalidJobId, ""};
    return static_cast<ShownState>(table.number(0, JobColumn::State));
}

}  // namespace

int wait_for_job(Session& session, const Words& words) {
    const auto say = [&](const std::string& text) {
        if (!session.quiet) session.streams.err(text);
        return 1;
    };
    const Result<JobRef> job = parse_job_ref(words[1]);
    if (!job) return say(fmt::format("{} for job {}\n", to_string(job.error()), words[1]));
    for (;;) {
        const Result<ShownState> state = state_of(session, *job);
        if (!state) return say(fmt::format("{} for job {}\n", to_string(state.error()), words[1]));
        if (*state == ShownState::Running || *state == ShownState::Suspended) return 0;
        const bool waits = *state == ShownState::Pending || *state == ShownState::Configuring;
        if (!waits) return say("Job is no longer running\n");
        std::this_thread::sleep_for(kLookInterval);
    }
}

}  // namespace sluice
