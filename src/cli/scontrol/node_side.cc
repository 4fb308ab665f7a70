// cli/scontrol/node_side.cc: listpids and notify, which reach the processes of jobs.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cli/common/ask_node.h"
#include "cli/common/listing.h"
#include "cli/scontrol/session.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

// The node of that name; without one, the node of the job that this is called in, or else the node
// that this host is.
Result<wire::NodeAddress> find_node_here(Session& session, const std::string* name) {
    const Table table = TRY(fetch_table(
        session.client, TableKind::Nodes,
        {static_cast<ColumnId>(NodeColumn::Name), static_cast<ColumnId>(NodeColumn::Hostname),
         static_cast<ColumnId>(NodeColumn::Address), static_cast<ColumnId>(NodeColumn::Port)},
        {.include_hidden = true}));
    const std::string host = host_name();
    const auto own = session.invocation.environment.find("SLURMD_NODENAME");
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string_view each = table.text(i, NodeColumn::Name);
        const bool is_meant = name  ? each == *name
                              : own ? each == *own
                                    : each == host || table.text(i, NodeColumn::Hostname) == host;
        if (!is_meant) continue;
        wire::NodeAddress address;
        address.set_name(std::string(each));
        address.set_address(std::string(table.text(i, NodeColumn::Address)));
        address.set_port(static_cast<std::uint32_t>(table.number(i, NodeColumn::Port)));
        return address;
    }
    return Error{ErrorCode::InvalidNodeName,
                 name ? *name : fmt::format("this host, {}; name a node", host)};
}

// "12", "12.0" or "*"; nothing: the text is none of them.
std::optional<wire::AskUsage> question_of(const std::string* text) {
    wire::AskUsage question;
    question.set_all_steps(true);
    if (!text || *text == "*") return question;
    const Result<JobRef> job = parse_job_ref(*text);
    if (!job || job->tasks) return {};
    question.set_job(job->job.value);
    if (job->step) {
        question.set_all_steps(false);
        question.add_steps(job->step->value);
    }
    return question;
}

void append_pids(const wire::StepUsage& step, std::string& out) {
    for (std::uint32_t pid : step.pids()) {
        std::string local = "-", global = "-";
        for (const wire::TaskProcess& process : step.task_processes()) {
            if (process.pid() != pid) continue;
            local = fmt::to_string(process.local());
            global = fmt::to_string(process.task());
        }
        out += fmt::format("{:<8} {:<8} {:<8} {:<7} {:<8}\n", pid, step.run().job(),
                           print_step(StepId{step.run().step()}), local, global);
    }
}

Result<wire::StepUsages> ask_pids(Session& session, const std::string* node,
                                  const wire::AskUsage& question) {
    const wire::NodeAddress address = TRY(find_node_here(session, node));
    AskedNode asked = TRY(ask_node(session.client, address, question));
    return hear_node(asked, deadline_for_nodes());
}

int fail(Session& session, const std::string& text) {
    if (!session.quiet) session.streams.err(text + "\n");
    return 1;
}

// All steps on the node that the caller may see.
Result<wire::StepUsages> ask_steps(Session& session, const Words& words) {
    wire::AskUsage question;
    question.set_all_steps(true);
    return ask_pids(session, words.size() > 1 ? &words[1] : nullptr, question);
}

// The job that has the process on this host; nothing: none of those that the caller may see.
Result<std::optional<std::uint32_t>> job_of_process(Session& session, std::uint64_t pid) {
    const wire::StepUsages answer = TRY(ask_steps(session, {}));
    for (const wire::StepUsage& step : answer.steps()) {
        for (const std::uint32_t each : step.pids()) {
            if (each == pid) return std::optional(step.run().job());
        }
    }
    return std::optional<std::uint32_t>();
}

}  // namespace

int list_pids(Session& session, const Words& words) {
    if (session.json) return fail(session, "listpids: --json and --yaml are not supported");
    const std::string* job = words.size() > 1 ? &words[1] : nullptr;
    const std::optional<wire::AskUsage> question = question_of(job);
    if (!question) return fail(session, fmt::format("Invalid job id specified: {}", *job));
    const std::string* node = words.size() > 2 ? &words[2] : nullptr;
    Result<wire::StepUsages> answer = ask_pids(session, node, *question);
    if (!answer) {
        print_api_error(session.streams, "scontrol_list_pids", answer.error());
        return 1;
    }
    std::string out = fmt::format("{:<8} {:<8} {:<8} {:<7} {:<8}\n", "PID", "JOBID", "STEPID",
                                  "LOCALID", "GLOBALID");
    for (const wire::StepUsage& step : answer->steps()) append_pids(step, out);
    session.streams.out(out);
    if (!answer->steps().empty() || question->job() == 0) return 0;
    return fail(session, question->all_steps()
                             ? fmt::format("There are no steps for job {} on this node.", *job)
                             : fmt::format("StepId={} does not exist on this node.", *job));
}

int list_jobs(Session& session, const Words& words) {
    if (session.json) return fail(session, "listjobs: --json and --yaml are not supported");
    const Result<wire::StepUsages> answer = ask_steps(session, words);
    if (!answer) {
        print_api_error(session.streams, "scontrol_list_jobs", answer.error());
        return 1;
    }
    std::set<std::uint32_t> jobs;
    for (const wire::StepUsage& step : answer->steps()) jobs.insert(step.run().job());
    std::string out = "JOBID\n";
    for (const std::uint32_t job : jobs) out += fmt::format("{}\n", job);
    session.streams.out(out);
    return 0;
}

int list_steps(Session& session, const Words& words) {
    if (session.json) return fail(session, "liststeps: --json and --yaml are not supported");
    const Result<wire::StepUsages> answer = ask_steps(session, words);
    if (!answer) {
        print_api_error(session.streams, "scontrol_list_steps", answer.error());
        return 1;
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> steps;
    for (const wire::StepUsage& step : answer->steps())
        steps.emplace(step.run().job(), step.run().step());
    std::string out = fmt::format("{:<8} {:<8}\n", "JOBID", "STEPID");
    for (const auto& [job, step] : steps)
        out += fmt::format("{:<8} {:<8}\n", job, print_step(StepId{step}));
    session.streams.out(out);
    return 0;
}

int show_process(Session& session, const Words& words) {
    const auto pid = to_number(words[1]);
    if (!pid || *pid == 0) return fail(session, fmt::format("Invalid pid: {}", words[1]));
    const Result<std::optional<std::uint32_t>> job = job_of_process(session, *pid);
    if (!job) {
        print_api_error(session.streams, "scontrol_pid_info", job.error());
        return 1;
    }
    if (!*job) return fail(session, "Failed to locate job for requested pid");
    Filter filter{.jobs = {JobRef{.job = JobId{**job}}}, .all_states = true};
    const Result<Table> table =
        fetch_table(session.client, TableKind::Jobs, {static_cast<ColumnId>(JobColumn::EndTime)},
                    std::move(filter));
    if (!table || table->rows() == 0) return fail(session, "Failed to get job information");
    const std::int64_t end = table->number(0, JobColumn::EndTime);
    if (end == kAbsent || end == kUnlimited) {
        session.streams.out(fmt::format("Slurm JobId={} has no time limit\n", **job));
        return 0;
    }
    const Time now = current_time();
    session.streams.out(fmt::format("Slurm JobId={} ends at {}Job remaining time is {} seconds\n",
                                    **job, date_line(from_unix(end)),
                                    std::max<std::int64_t>(0, end - to_unix(now))));
    return 0;
}

int notify(Session& session, const Words& words) {
    wire::Request request;
    request.mutable_cancel()->mutable_filter()->add_jobs(words[1]);
    request.mutable_cancel()->set_message(
        fmt::format("{}", fmt::join(words.begin() + 2, words.end(), " ")));
    Result<wire::Reply> reply = session.client.call(request);
    std::optional<Error> error;
    if (!reply) {
        error = reply.error();
    } else {
        for (const wire::JobResult& result : reply->results().results()) {
            if (result.has_error()) error = from_wire(result.error());
        }
    }
    if (!error) return 0;
    return fail(session, fmt::format("job notify failure: {}", to_string(*error)));
}

}  // namespace sluice
