// How a run starts: once, after the job's Prolog, with the record of its user.
#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "model/errors.h"
#include "node/handlers.h"

namespace sluice {

namespace {

UserKey user_of(const HookJob& job) {
    return {job.user, job.group};
}

// Another run of the job comes here.
void learn(HookJob& known, const HookJob& news) {
    known.key = news.key;
    known.user = news.user;
    known.group = news.group;
    known.variables = news.variables;
    known.data = news.data;
    known.syncs = known.syncs || news.syncs;
    known.gpus.insert(news.gpus.begin(), news.gpus.end());
    known.gpu_variables.insert(news.gpu_variables.begin(), news.gpu_variables.end());
}

// A run that never was: the job stays only if something else of it is here.
void drop(const Deciding& on, const RunKey& run) {
    JobHere* job = on.state.find(run.job);
    job->runs.erase(run.step);
    if (job->runs.empty() && !job->takes_no_more()) on.state.jobs.erase(run.job);
    on_user_asked(on, run);
}

void go_on_when_ready(const Deciding& on, const RunKey& run) {
    if (!must_wait_for_user(on, run, user_of(on.state.find(run.job)->hook))) start(on, run);
}

// Whether the job's Prolog has run; it is started if it has not been.
bool is_after_prolog(const Deciding& on, JobHere& job) {
    if (job.prolog == JobHere::Prolog::Wanted && on.state.settings.has_prolog) {
        job.prolog = JobHere::Prolog::Running;
        on.add(RunProlog{job.hook});
    }
    if (job.prolog == JobHere::Prolog::Running) return false;
    job.prolog = JobHere::Prolog::Done;
    return true;
}

// The same with the work on its data, which follows.
bool is_ready(const Deciding& on, JobHere& job) {
    return is_after_prolog(on, job) && is_after_data(on, job);
}

// Known from here on, so that a repeated order does nothing.
void begin(const Deciding& on, const RunKey& run, const HookJob& news) {
    JobHere& job = on.state.jobs[run.job];
    learn(job.hook, news);
    job.runs[run.step] = {};
    if (run.step == kBatchStep) want_restore(job);
    if (is_ready(on, job)) go_on_when_ready(on, run);
}

// PrologFlags=Alloc without Contain: only the Prolog runs.
void prepare(const Deciding& on, const HookJob& news) {
    JobHere& job = on.state.jobs[news.key];
    learn(job.hook, news);
    if (is_ready(on, job))
        on.add(ReportLaunch{extern_of(news.key)});
    else
        job.is_prepared_for = true;
}

// One that had begun here ends as any does, after its Epilog.
void fail_batch(const Deciding& on, const JobKey& job, const Error& error) {
    const RunEnd end{.exit = {}, .launch_error = error};
    if (JobHere* here = on.state.find(job))
        here->batch_end = end;
    else
        report_job_end(on, batch_of(job), end, false);
}

std::optional<Error> obstacle(const JobHere& job, const RunHere& run) {
    if (run.is_cancelled)
        return Error{ErrorCode::LaunchFailed, "the step was cancelled before it started"};
    if (job.takes_no_more())
        return Error{ErrorCode::LaunchFailed, "the job was ended before it started"};
    return {};
}

}  // namespace

bool wants_batch(const NodeState& state, const JobKey& job) {
    const JobHere* here = state.find(job);
    const RunKey run = batch_of(job);
    return !state.find(run) && !state.unacknowledged.contains(run) &&
           !(here && here->takes_no_more());
}

bool wants_preparation(const NodeState& state, const JobKey& job) {
    const JobHere* here = state.find(job);
    const RunKey run = extern_of(job);
    return !state.find(run) && !state.unacknowledged.contains(run) &&
           !state.unacknowledged.contains(batch_of(job)) && !(here && here->takes_no_more());
}

Result<void> may_launch(const NodeState& state, const RunKey& run, Time issued) {
    const auto refused = [](std::string why) {
        return Error{ErrorCode::LaunchFailed, std::move(why)};
    };
    if (state.never_start.contains(run)) {
        return refused(fmt::format("step {} was cancelled before it started", print_run(run)));
    }
    // A controller that does not know the end yet signs credentials for the job.
    const bool end_is_unknown = state.unacknowledged.contains(batch_of(run.job));
    const JobHere* here = state.find(run.job);
    if (end_is_unknown || state.recent_ends.is_after(run.job, issued) ||
        (here && here->takes_no_more())) {
        return refused(fmt::format("job {} has ended on this node", run.job.job.value));
    }
    if (state.find(run) || state.unacknowledged.contains(run)) {
        return refused(fmt::format("step {} was launched before", print_run(run)));
    }
    return {};
}

void on_batch_ordered(const Deciding& on, const BatchOrdered& event) {
    const RunKey run = batch_of(event.job.key);
    if (!wants_batch(on.state, run.job)) {
        const RunHere* here = on.state.find(run);
        // One that has not started will be reported when it has.
        if (here && here->is_started) on.add(ReportLaunch{run});
        return;
    }
    if (!event.refused) return begin(on, run, event.job);
    on.add(RefuseLaunch{run, *event.refused});
    fail_batch(on, run.job, *event.refused);
    close_if_clean(on, run.job);
}

void on_prepare_ordered(const Deciding& on, const PrepareOrdered& event) {
    const RunKey run = extern_of(event.job.key);
    if (!wants_preparation(on.state, run.job)) {
        const RunHere* here = on.state.find(run);
        // One that has not started will be reported when it has.
        if (here && here->is_started) on.add(ReportLaunch{run});
        return;
    }
    if (event.refused) {
        on.add(RefuseLaunch{run, *event.refused});
        report_refusal(on, run, *event.refused);
        if (event.contain) report_step_end(on, run, {.exit = {.code = 1}});
    } else if (event.contain) {
        begin(on, run, event.job);
    } else {
        prepare(on, event.job);
    }
}

void on_step_brought(const Deciding& on, const StepBrought& event) {
    CHECK(!on.state.find(event.run));
    if (event.refused) {
        JobHere& job = on.state.jobs[event.run.job];
        learn(job.hook, event.job);
        job.runs[event.run.step] = {};
        return refuse(on, event.run, *event.refused);
    }
    begin(on, event.run, event.job);
    // The controller gives a step up that its nodes have not got in time, and a Prolog may take
    // long.
    const RunHere* run = on.state.find(event.run);
    if (run && !run->is_supervised) on.add(ReportLaunch{event.run});
}

void on_prolog_ended(const Deciding& on, const PrologEnded& event) {
    JobHere* job = on.state.find(event.job);
    if (!job || job->prolog != JobHere::Prolog::Running) return;
    job->prolog = event.ok ? JobHere::Prolog::Done : JobHere::Prolog::Wanted;
    if (!event.ok) return end_preparation(on, event.job, Error{ErrorCode::PrologFailed, ""});
    if (job->takes_no_more() || is_after_data(on, *job)) end_preparation(on, event.job, {});
}

// After the Prolog and the work on the data, or instead of what is left of them.
void end_preparation(const Deciding& on, const JobKey& key, const std::optional<Error>& error) {
    JobHere* job = on.state.find(key);
    if (std::exchange(job->is_prepared_for, false)) {
        on.add(ReportLaunch{extern_of(key), error});
        // Nothing else of it may be here, unless its end was ordered meanwhile.
        if (error && job->runs.empty() && !job->takes_no_more()) {
            on.state.jobs.erase(key);
            return;
        }
        close_if_clean(on, key);
        job = on.state.find(key);
        if (!job) return;
    }
    std::vector<StepId> waiting;
    for (const auto& [step, run] : job->runs) waiting.push_back(step);
    for (const StepId step : waiting) {
        const RunKey run{key, step};
        if (error)
            refuse(on, run, *error);
        else
            go_on_when_ready(on, run);
    }
}

void start(const Deciding& on, const RunKey& run) {
    JobHere* job = on.state.find(run.job);
    RunHere* here = on.state.find(run);
    if (!here) return;
    if (const std::optional<Error> error = obstacle(*job, *here)) return refuse(on, run, *error);
    here->is_supervised = true;
    job->has_run = true;
    on.add(SpawnStep{run, job->hook, knows_user(on, user_of(job->hook))});
}

void on_spawn_failed(const Deciding& on, const SpawnFailed& event) {
    if (on.state.find(event.run)) refuse(on, event.run, event.error);
}

void refuse(const Deciding& on, const RunKey& run, const Error& error) {
    on.add(RefuseLaunch{run, error});
    if (run.step == kBatchStep) {
        fail_batch(on, run.job, error);
    } else {
        report_refusal(on, run, error);
        report_step_end(on, run, {.exit = {.code = 1}});
    }
    drop(on, run);
    close_if_clean(on, run.job);
}

}  // namespace sluice
