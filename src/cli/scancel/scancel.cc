#include "cli/scancel/scancel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "cli/scancel/options.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "model/sizes.h"
#include "model/table.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

int refuse(const Error& error, const Invocation& invocation, Streams& streams) {
    if (error.code == ErrorCode::NotFound) {
        print_usage_error(streams, invocation, error);
    } else if (error.code == ErrorCode::BadArgument) {
        streams.err(error.detail + "\n");
    } else {
        print_error(streams, invocation, error.detail);
    }
    return 1;
}

bool names_step(const std::string& reference) {
    return reference.find('.') != std::string::npos;
}

void print_kill_error(const std::string& reference, const Error& error,
                      const Invocation& invocation, Streams& streams) {
    print_error(streams, invocation,
                fmt::format("Kill job error on job {}id {}: {}",
                            names_step(reference) ? "step " : "", reference, to_string(error)));
}

Result<Table> fetch_jobs(Client& client, const wire::Filter& filter) {
    constexpr JobColumn kColumns[] = {JobColumn::Id,          JobColumn::ArrayJobId,
                                      JobColumn::ArrayTaskId, JobColumn::ArrayTasks,
                                      JobColumn::Name,        JobColumn::Partition};
    wire::Request request;
    wire::ListTable& list = *request.mutable_list();
    list.set_kind(static_cast<std::uint32_t>(TableKind::Jobs));
    for (JobColumn column : kColumns) list.add_columns(static_cast<std::uint32_t>(column));
    *list.mutable_filter() = filter;
    const wire::Reply reply = TRY(client.call(request));
    return from_wire(reply.listing());
}

std::string reference_of(const Table& table, std::size_t row) {
    const std::string id = fmt::format("{}", table.number(row, JobColumn::Id));
    if (table.number(row, JobColumn::ArrayTaskId) != kAbsent) {
        return fmt::format("{}_{}", table.number(row, JobColumn::ArrayJobId),
                           table.number(row, JobColumn::ArrayTaskId));
    }
    const std::string_view tasks = table.text(row, JobColumn::ArrayTasks);
    return tasks.empty() ? id : fmt::format("{}_[{}]", id, tasks);
}

// Nothing: there is no more input.
std::optional<bool> ask(const std::string& what, const Table& table, std::size_t row,
                        Streams& streams) {
    streams.out(fmt::format("Cancel {} name={} partition={} [y/n]? ", what,
                            table.text(row, JobColumn::Name),
                            table.text(row, JobColumn::Partition)));
    streams.flush();
    std::string answer;
    if (!streams.read_line(answer)) return {};
    return answer.starts_with('y') || answer.starts_with('Y');
}

// The steps that are named, then the jobs that fit the filter, one by one, as far as the user says
// yes.
Result<std::vector<std::string>> ask_for_each(const CancelOptions& options, Client& client,
                                              Streams& streams) {
    std::vector<std::string> chosen;
    wire::Filter jobs = options.request.filter();
    for (const std::string& reference : options.jobs) {
        if (!names_step(reference)) {
            jobs.add_jobs(reference);
            continue;
        }
        wire::Filter job = options.request.filter();
        job.add_jobs(reference.substr(0, reference.find('.')));
        const Table table = TRY(fetch_jobs(client, job));
        if (table.rows() == 0) continue;
        const auto yes = ask(fmt::format("step_id={}", reference), table, 0, streams);
        if (!yes) return chosen;
        if (*yes) chosen.push_back(reference);
    }
    if (jobs.jobs_size() == 0 && !options.jobs.empty()) return chosen;
    const Table table = TRY(fetch_jobs(client, jobs));
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::string id = reference_of(table, row);
        const auto yes = ask(fmt::format("job_id={}", id), table, row, streams);
        if (!yes) break;
        if (*yes) chosen.push_back(id);
    }
    return chosen;
}

// Compat: a job that is not there (any more) is no failure when it was simply to be cancelled; with
// --ctld one that is not known is.
bool is_harmless(const Error& error, const std::string& reference, const CancelOptions& options) {
    bool is_gone = error.code == ErrorCode::JobFinished ||
                   (error.code == ErrorCode::InvalidJobId && !options.ctld);
    bool is_plain = !options.has_filter && !options.request.batch() && !names_step(reference);
    return is_gone && is_plain;
}

int report(const wire::JobResults& results, const CancelOptions& options,
           const Invocation& invocation, Streams& streams) {
    int code = 0;
    for (const wire::JobResult& result : results.results()) {
        if (!result.has_error()) continue;
        Error error = from_wire(result.error());
        bool harmless = is_harmless(error, result.job(), options);
        if (!harmless) code = 1;
        if (options.quiet && harmless) continue;
        if (!harmless || options.verbose > 0) {
            print_kill_error(result.job(), error, invocation, streams);
        }
    }
    return code;
}

int cancel_some(const CancelOptions& options, std::span<const std::string> jobs,
                const Invocation& invocation, Client& client, Streams& streams) {
    wire::Request request;
    *request.mutable_cancel() = options.request;
    for (const std::string& job : jobs) {
        request.mutable_cancel()->mutable_filter()->add_jobs(job);
        if (options.verbose == 0) continue;
        print_info(streams, invocation,
                   options.request.signal() == 0
                       ? fmt::format("Terminating job {}", job)
                       : fmt::format("Signal {} to job {}", options.request.signal(), job));
    }
    Result<wire::Reply> reply = client.call(request);
    if (reply) return report(reply->results(), options, invocation, streams);
    if (jobs.empty()) {
        print_error(streams, invocation,
                    fmt::format("Kill job error: {}", to_string(reply.error())));
        return 1;
    }
    int code = 0;
    for (const std::string& job : jobs) {
        bool harmless = is_harmless(reply.error(), job, options);
        if (!harmless) code = 1;
        if (!harmless || options.verbose > 0)
            print_kill_error(job, reply.error(), invocation, streams);
    }
    return code;
}

// The controller takes so many jobs in one request.
int cancel(const CancelOptions& options, const Invocation& invocation, Client& client,
           Streams& streams) {
    std::span<const std::string> left = options.jobs;
    int code = 0;
    do {
        const std::size_t some = std::min(left.size(), sizes::kChangedJobCount);
        code = std::max(code, cancel_some(options, left.first(some), invocation, client, streams));
        left = left.subspan(some);
    } while (!left.empty());
    return code;
}

}  // namespace

int run_scancel(const Invocation& invocation, Client& client, Streams& streams) {
    Result<CancelOptions> read = read_cancel_options(invocation);
    if (!read) return refuse(read.error(), invocation, streams);
    CancelOptions& options = *read;
    if (options.version) {
        print_version(streams);
        return 0;
    }
    if (options.help || options.usage) {
        streams.out(options.help ? cancel_help() : cancel_usage());
        return 0;
    }
    if (options.jobs.empty() && !options.has_filter) {
        print_error(streams, invocation, "No job identification provided");
        return 1;
    }
    if (options.interactive) {
        Result<std::vector<std::string>> chosen = ask_for_each(options, client, streams);
        if (!chosen) {
            print_error(streams, invocation, to_string(chosen.error()));
            return 1;
        }
        if (chosen->empty()) return 0;
        options.jobs = std::move(*chosen);
        options.request.clear_filter();
    }
    return cancel(options, invocation, client, streams);
}

}  // namespace sluice
