// cli/scontrol/control.cc
//
// Verbs on jobs: hold, uhold, release, requeue, requeuehold, suspend, resume, top; and write
// batch_script.
#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/scontrol/session.h"
#include "model/columns.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

struct Verb {
    std::string_view name;
    wire::ControlJobs::Verb verb;
    bool two_lines;  // Compat: says an error twice
};

constexpr Verb kVerbs[] = {
    {"hold", wire::ControlJobs::HOLD, true},
    {"holdu", wire::ControlJobs::USER_HOLD, true},
    {"uhold", wire::ControlJobs::USER_HOLD, true},
    {"release", wire::ControlJobs::RELEASE, true},
    {"requeue", wire::ControlJobs::REQUEUE, false},
    {"requeuehold", wire::ControlJobs::REQUEUE_HOLD, false},
    {"suspend", wire::ControlJobs::SUSPEND, false},
    {"resume", wire::ControlJobs::RESUME, false},
    {"top", wire::ControlJobs::TOP, false},
};

// Jobs may be given as separate words, with commas, or as one quoted word with blanks in it.
std::vector<std::string> job_words(const Words& command) {
    std::vector<std::string> jobs;
    for (std::size_t i = 1; i < command.size(); ++i) {
        std::string text = command[i];
        // The commas of "12_[1,3]" belong to the job.
        int depth = 0;
        for (char& c : text) {
            if (c == '[') ++depth;
            if (c == ']') --depth;
            if (c == ',' && depth == 0) c = ' ';
        }
        for (std::string_view word : words(text)) jobs.emplace_back(word);
    }
    return jobs;
}

std::optional<std::string> named_value(std::string_view word,
                                       std::initializer_list<std::string_view> keys) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return {};
    for (std::string_view key : keys) {
        if (equals_ignoring_case(word.substr(0, equals), key))
            return std::string(word.substr(equals + 1));
    }
    return {};
}

// "name=x": every job of that name.
Result<std::vector<std::string>> jobs_named(Session& session, const std::string& name) {
    const Table table = TRY(fetch_table(session.client, TableKind::Jobs,
                                        {static_cast<ColumnId>(JobColumn::Id)}, {.names = {name}}));
    std::vector<std::string> jobs;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        jobs.push_back(fmt::to_string(table.number(i, JobColumn::Id)));
    }
    if (jobs.empty()) return Error{ErrorCode::InvalidJobId, ""};
    return jobs;
}

// "State=SpecialExit", a word that goes before the jobs of requeue and requeuehold: taken out of
// them. The error is the word with another state.
Result<bool> take_special_state(std::vector<std::string>& asked) {
    for (auto word = asked.begin(); word != asked.end(); ++word) {
        const auto state = named_value(*word, {"state"});
        if (!state) continue;
        if (!equals_ignoring_case(*state, "SpecialExit"))
            return Error{ErrorCode::InvalidJobId, *word};
        asked.erase(word);
        return true;
    }
    return false;
}

// "Incomplete", a word before the jobs of requeue and requeuehold.
bool is_incomplete(const std::string& word) {
    return equals_ignoring_case(word, "incomplete");
}

// Those of the jobs, and of the tasks of arrays, that have started and not ended.
Result<std::vector<std::string>> started_jobs(Session& session,
                                              const std::vector<std::string>& asked) {
    Filter filter{.all_states = true};
    for (const std::string& word : asked) filter.jobs.push_back(TRY(parse_job_ref(word)));
    const Table table = TRY(fetch_table(
        session.client, TableKind::Jobs,
        {static_cast<ColumnId>(JobColumn::Id), static_cast<ColumnId>(JobColumn::State)}, filter));
    std::vector<std::string> jobs;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const auto state = static_cast<ShownState>(table.number(i, JobColumn::State));
        const bool is_started = state == ShownState::Running || state == ShownState::Suspended ||
                                state == ShownState::Configuring || state == ShownState::Stopped;
        if (is_started) jobs.push_back(fmt::to_string(table.number(i, JobColumn::Id)));
    }
    return jobs;
}

struct Failure {
    std::string job;
    Error error;
};

// What could not be done; nothing where all went well.
std::vector<Failure> perform(Session& session, wire::ControlJobs wanted,
                             const std::vector<std::string>& asked) {
    std::vector<Failure> failures;
    wire::Request request;
    wire::ControlJobs& control = *request.mutable_control() = std::move(wanted);
    for (const std::string& word : asked) {
        if (auto name = named_value(word, {"name", "jobname"})) {
            Result<std::vector<std::string>> jobs = jobs_named(session, *name);
            if (!jobs) {
                failures.push_back({*name, jobs.error()});
            } else {
                for (const std::string& job : *jobs) control.add_jobs(job);
            }
        } else {
            std::string job = named_value(word, {"jobid", "job"}).value_or(word);
            if (parse_job_ref(job)) {
                control.add_jobs(job);
            } else {
                failures.push_back({job, Error{ErrorCode::InvalidJobId, ""}});
            }
        }
    }
    if (control.jobs_size() == 0) return failures;
    Result<wire::Reply> reply = session.client.call(request);
    if (!reply) {
        for (const std::string& job : control.jobs()) failures.push_back({job, reply.error()});
        return failures;
    }
    for (const wire::JobResult& result : reply->results().results()) {
        if (!result.has_error()) continue;
        failures.push_back({result.job(), Error{static_cast<ErrorCode>(result.error().code()),
                                                result.error().detail()}});
    }
    return failures;
}

// The job that `write batch_script` means, for ids of array tasks too.
Result<std::uint32_t> job_number(Session& session, const std::string& text) {
    Result<JobRef> ref = parse_job_ref(text);
    if (!ref) return Error{ErrorCode::InvalidJobId, ""};
    if (!ref->tasks) return ref->job.value;
    const Table table =
        TRY(fetch_table(session.client, TableKind::Jobs, {static_cast<ColumnId>(JobColumn::Id)},
                        {.jobs = {*ref}, .all_states = true}));
    if (table.rows() == 0) return Error{ErrorCode::InvalidJobId, ""};
    return static_cast<std::uint32_t>(table.number(0, JobColumn::Id));
}

Result<std::string> fetch_script(Session& session, const std::string& job) {
    wire::Request request;
    request.set_batch_script(TRY(job_number(session, job)));
    wire::Reply reply = TRY(session.client.call(request));
    return reply.text().text();
}

}  // namespace

int control_jobs(Session& session, const Words& words) {
    const Verb* verb = nullptr;
    for (const Verb& each : kVerbs) {
        if (each.name == words[0]) verb = &each;
    }
    std::vector<std::string> asked = job_words(words);
    const bool may_choose =
        verb->verb == wire::ControlJobs::REQUEUE || verb->verb == wire::ControlJobs::REQUEUE_HOLD;
    const Result<bool> special = may_choose ? take_special_state(asked) : Result<bool>(false);
    if (!special) {  // without it, the jobs would be requeued into another state
        if (!session.quiet)
            session.streams.err(
                fmt::format("{}: the only state is SpecialExit\n", special.error().detail));
        return 1;
    }
    wire::ControlJobs wanted;
    wanted.set_verb(*special ? wire::ControlJobs::REQUEUE_HOLD : verb->verb);
    wanted.set_special_exit(*special);
    if (may_choose && std::erase_if(asked, is_incomplete) > 0) {
        Result<std::vector<std::string>> started = started_jobs(session, asked);
        if (!started) {
            print_api_error(session.streams, "slurm_load_jobs", started.error());
            return 1;
        }
        if (started->empty()) return 0;
        asked = *std::move(started);
    }
    const std::vector<Failure> failures = perform(session, std::move(wanted), asked);
    if (failures.empty()) return 0;
    if (session.quiet) return 1;
    // Compat: tasks of an array are named first, and only once.
    auto is_task = [](const Failure& failure) {
        return failure.job.find('_') != std::string::npos;
    };
    for (const Failure& failure : failures) {
        const std::string why = to_string(failure.error);
        session.streams.err(verb->two_lines && is_task(failure)
                                ? fmt::format("{}: {}\n", failure.job, why)
                                : fmt::format("{} for job {}\n", why, failure.job));
    }
    if (verb->two_lines && !is_task(failures.back())) {
        session.streams.err(
            fmt::format("slurm_suspend error:{}\n", text_of(failures.back().error.code)));
    }
    return 1;
}

int write_script(Session& session, const Words& words) {
    if (!starts_with_ignoring_case("batch_script", words[1])) {
        session.streams.err(fmt::format("invalid write argument:{}\n", words[1]));
        return 1;
    }
    if (words.size() < 3) {
        session.streams.err("too few arguments for keyword:write batch_script\n");
        return 1;
    }
    Result<std::string> script = fetch_script(session, words[2]);
    if (!script) {
        // Compat: no failure as far as the exit code goes.
        session.streams.err(
            fmt::format("job script retrieval failed: {}\n", to_string(script.error())));
        return 0;
    }
    const std::string path = words.size() > 3 ? words[3] : fmt::format("slurm-{}.sh", words[2]);
    if (path == "-") {
        session.streams.out(*script);
        return 0;
    }
    Result<void> written = write_file_atomically(absolute_path(path, session.invocation.directory),
                                                 *script, {.mode = 0700});
    if (!written) {
        session.streams.err(
            fmt::format("failed to open file `{}`: {}\n", path, to_string(written.error())));
        return 1;
    }
    if (!session.quiet) {
        session.streams.out(fmt::format("batch script for job {} written to {}\n", words[2], path));
    }
    return 0;
}

}  // namespace sluice
