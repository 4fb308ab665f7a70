// sim/traces/swf.cc
//
// The Standard Workload Format of the Parallel Workloads Archive: 18 columns of numbers, -1 where
// nothing is known, comments behind `;`.
#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"
#include "model/text_table.h"
#include "sim/traces/trace.h"

namespace sluice {
namespace {

// Counted from 0.
constexpr std::size_t kColumns = 18;
constexpr std::size_t kJob = 0, kSubmit = 1, kRunTime = 3, kProcessorsUsed = 4;
constexpr std::size_t kProcessorsWanted = 7, kTimeWanted = 8, kMemoryWanted = 9, kStatus = 10;
constexpr std::size_t kUser = 11, kGroup = 12, kQueue = 14;

// A job that was checkpointed has a line for the whole and lines for its parts.
bool is_part(std::int64_t status) {
    return status >= 2 && status <= 4;
}

// "; UnixStartTime: 1234"
std::optional<std::int64_t> start_time_in(std::string_view comment) {
    constexpr std::string_view kKey = "UnixStartTime:";
    std::size_t at = comment.find(kKey);
    if (at == comment.npos) return {};
    auto number = to_number(trim(comment.substr(at + kKey.size())));
    if (!number || *number > 100'000'000'000) return {};
    return static_cast<std::int64_t>(*number);
}

std::string numbered(std::string_view prefix, std::int64_t number) {
    return number < 0 ? std::string() : fmt::format("{}{}", prefix, number);
}

Result<std::optional<TraceJob>> swf_job(const TableRow& row, std::int64_t start) {
    if (row.cells.size() != kColumns) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}:{}: {} columns: {} are expected", row.path, row.line,
                                 row.cells.size(), kColumns)};
    }
    std::int64_t duration = TRY(row.number(kRunTime, "run time"));
    std::int64_t wanted = TRY(row.number(kProcessorsWanted, "requested processors"));
    std::int64_t used = TRY(row.number(kProcessorsUsed, "allocated processors"));
    std::int64_t status = TRY(row.number(kStatus, "status"));
    std::int64_t submit = TRY(row.number(kSubmit, "submit time"));
    std::int64_t processors = wanted > 0 ? wanted : used;
    if (duration < 0 || processors <= 0 || is_part(status)) return std::optional<TraceJob>();
    if (submit < 0) return row.wrong(kSubmit, "submit time", "a time from 0 on");
    if (processors > 0xffffff)
        return row.wrong(kProcessorsWanted, "requested processors", "a count");
    TraceJob job;
    job.name = std::string(row.cells[kJob]);
    job.submit = from_unix(start + submit);
    job.duration = Seconds{duration};
    job.cpus = static_cast<std::uint32_t>(processors);
    if (std::int64_t limit = TRY(row.number(kTimeWanted, "requested time")); limit > 0) {
        job.limit = Seconds{limit};
    }
    if (std::int64_t kb = TRY(row.number(kMemoryWanted, "requested memory")); kb > 0) {
        job.mem_per_cpu = static_cast<Megabytes>((kb + 1023) / 1024);
    }
    job.user = numbered("user", TRY(row.number(kUser, "user")));
    job.account = numbered("group", TRY(row.number(kGroup, "group")));
    job.partition = numbered("queue", TRY(row.number(kQueue, "queue")));
    return std::optional<TraceJob>(std::move(job));
}

}  // namespace

Result<Trace> parse_swf(const std::string& path, std::string_view text) {
    Trace trace;
    std::int64_t start = 0;
    std::size_t number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        std::size_t comment = line.find(';');
        if (comment != line.npos) {
            start = start_time_in(line.substr(comment)).value_or(start);
            line = line.substr(0, comment);
        }
        if (trim(line).empty()) continue;
        std::optional<TraceJob> job = TRY(swf_job(TableRow{path, number, words(line)}, start));
        if (job)
            trace.jobs.push_back(*std::move(job));
        else
            ++trace.skipped;
    }
    return trace;
}

}  // namespace sluice
