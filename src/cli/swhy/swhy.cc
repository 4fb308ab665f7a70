#include "cli/swhy/swhy.h"

#include <unistd.h>

#include "cli/common/listing.h"
#include "cli/common/start_hint.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "protocol/convert.h"
#include "surface/arguments.h"
#include "surface/explain.h"
#include "surface/jobs.h"
#include "surface/record.h"

namespace sluice {

namespace {

constexpr std::string_view kHelp =
    R"(Usage: swhy [OPTIONS] [JOBID...]
Explains why jobs wait, which jobs hold the resources, and which changes would start them now.
Without a job: one line for each of your own waiting jobs.

      --json     print everything as JSON
  -V, --version  print the version and exit
      --help     show this text
)";

enum Option : std::size_t { kJson, kHelpOption, kVersionOption };
constexpr OptionSpelling kSpellings[] = {{"json", 0, Argument::None, kJson},
                                         {"help", 0, Argument::None, kHelpOption},
                                         {"usage", 0, Argument::None, kHelpOption},
                                         {"version", 'V', Argument::None, kVersionOption}};

struct Found {
    std::vector<Explanation> jobs;
    int exit_code = 0;
};

// Prints an error for unknown jobs, and explains the others.
Found explain_all(const std::vector<std::string>& words, const Invocation& invocation,
                  Client& client, Streams& streams) {
    Found found;
    for (const std::string& word : words) {
        for (const std::string& job : split_list(word)) {
            Result<JobRef> ref = parse_job_ref(job);
            Result<std::vector<Explanation>> answer =
                ref ? fetch_explanations(client, job)
                    : Result<std::vector<Explanation>>(Error{ErrorCode::InvalidJobId, {}});
            if (!answer) {
                print_error(streams, invocation,
                            fmt::format("{}: {}", job, to_string(answer.error())));
                found.exit_code = 1;
                continue;
            }
            for (Explanation& each : *answer) found.jobs.push_back(std::move(each));
        }
    }
    return found;
}

// The caller's waiting jobs, from a listing: that costs the controller next to nothing.
Result<Table> own_waiting_jobs(Client& client) {
    using C = JobColumn;
    Filter filter{
        .users = {UserId{geteuid()}}, .states = {ShownState::Pending}, .include_hidden = true};
    std::vector<ColumnId> columns;
    for (C column :
         {C::Id, C::ArrayJobId, C::ArrayTaskId, C::ArrayTasks, C::ArrayLimit, C::Name, C::Partition,
          C::State, C::BaseState, C::Reason, C::ReasonDetail, C::StartTime, C::SchedNodes}) {
        columns.push_back(static_cast<ColumnId>(column));
    }
    return fetch_table(client, TableKind::Jobs, columns, filter);
}

std::string one_line(const SheetRow& job) {
    std::string id, reason;
    append_job_id(job, id);
    append_reason(job, reason);
    std::string line = fmt::format("{} ({}) {}: {}", id, job.text(JobColumn::Name),
                                   job.text(JobColumn::Partition), reason);
    if (job.has(JobColumn::StartTime)) {
        line += ", starts about ";
        append_moment(job.number(JobColumn::StartTime), "", job.looks(), line);
    }
    std::string_view nodes = job.text(JobColumn::SchedNodes);
    if (!nodes.empty()) line.append(" on ").append(nodes);
    return line + "\n";
}

int list_own(Time now, const Invocation& invocation, Client& client, Streams& streams, bool json) {
    Result<Table> table = own_waiting_jobs(client);
    if (!table) {
        print_error(streams, invocation, to_string(table.error()));
        return 1;
    }
    const Looks looks = looks_for(invocation, client, now);
    const Sheet sheet(*table, looks);
    std::string out;
    std::vector<std::string> ids;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        out += one_line({&sheet, i});
        ids.push_back(fmt::format("{}", sheet.number(i, JobColumn::Id)));
    }
    if (!json) {
        streams.out(out.empty() ? "No job of yours waits.\n" : out);
        return 0;
    }
    Json document;
    document.open_object();
    document.open_list("jobs");
    Found found = explain_all(ids, invocation, client, streams);
    for (const Explanation& each : found.jobs) write_explanation(each, document);
    document.close();
    document.close();
    streams.out(document.take());
    return found.exit_code;
}

}  // namespace

int run_swhy(const Invocation& invocation, Client& client, Streams& streams) {
    return run_swhy_at(current_time(), invocation, client, streams);
}

int run_swhy_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    Result<Arguments> given = parse_arguments(invocation.args, kSpellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    bool json = false;
    for (const GivenOption& option : given->options) {
        if (option.id == kJson) json = true;
        if (option.id == kHelpOption) streams.out(kHelp);
        if (option.id == kVersionOption) print_version(streams);
        if (option.id != kJson) return 0;
    }
    if (!has_configuration(invocation, client, streams)) return 1;
    if (given->operands.empty()) return list_own(now, invocation, client, streams, json);
    const Found found = explain_all(given->operands, invocation, client, streams);
    if (json) {
        Json document;
        document.open_object();
        document.open_list("jobs");
        for (const Explanation& each : found.jobs) write_explanation(each, document);
        document.close();
        document.close();
        streams.out(document.take());
        return found.exit_code;
    }
    for (const Explanation& each : found.jobs) {
        std::string text = explanation_title(each) + "\n";
        for (const std::string& line : explanation_lines(each, now)) text += "  " + line + "\n";
        streams.out(text);
    }
    return found.exit_code;
}

}  // namespace sluice
