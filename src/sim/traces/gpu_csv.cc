// sim/traces/gpu_csv.cc
//
// GPU jobs as a table with a header line: submit,duration,gpus,account and, where known,
// user,limit,cpus,nodes,partition,qos. Times are in seconds.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/text_table.h"
#include "sim/traces/trace.h"

namespace sluice {
namespace {

constexpr std::string_view kCsvNames[] = {"submit", "duration", "gpus",  "account",   "user",
                                          "limit",  "cpus",     "nodes", "partition", "qos"};

struct CsvColumns {
    std::size_t submit, duration, gpus, account;
    std::size_t user, limit, cpus, nodes, partition, qos;  // may be absent
};

Result<CsvColumns> csv_columns(const TableRow& row) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
        std::string name = to_lower(trim(row.cells[i]));
        if (std::find(std::begin(kCsvNames), std::end(kCsvNames), name) == std::end(kCsvNames)) {
            return row.wrong(i, "header",
                             "one of " + fmt::format("{}", fmt::join(kCsvNames, ", ")));
        }
    }
    TableHeader header(row);
    CsvColumns columns{};
    columns.submit = TRY(header.required(row.path, "submit"));
    columns.duration = TRY(header.required(row.path, "duration"));
    columns.gpus = TRY(header.required(row.path, "gpus"));
    columns.account = TRY(header.required(row.path, "account"));
    columns.user = header.find("user");
    columns.limit = header.find("limit");
    columns.cpus = header.find("cpus");
    columns.nodes = header.find("nodes");
    columns.partition = header.find("partition");
    columns.qos = header.find("qos");
    return columns;
}

bool is_given(const TableRow& row, std::size_t column) {
    return column != TableHeader::npos && !trim(row.cells[column]).empty();
}

std::string text_in(const TableRow& row, std::size_t column) {
    return is_given(row, column) ? std::string(trim(row.cells[column])) : std::string();
}

Result<Seconds> seconds_in(const TableRow& row, std::size_t column, std::string_view name) {
    std::int64_t value = TRY(row.number(column, name));
    if (value < 0) return row.wrong(column, name, "a number of seconds");
    return Seconds{value};
}

Result<TraceJob> csv_job(const TableRow& row, const CsvColumns& columns) {
    TraceJob job;
    job.submit = Time{TRY(seconds_in(row, columns.submit, "submit"))};
    job.duration = TRY(seconds_in(row, columns.duration, "duration"));
    job.gpus = TRY(row.count(columns.gpus, "gpus"));
    job.cpus = std::max(1u, job.gpus);
    if (is_given(row, columns.cpus)) job.cpus = TRY(row.count(columns.cpus, "cpus"));
    if (job.cpus == 0) return row.wrong(columns.cpus, "cpus", "at least one");
    if (is_given(row, columns.nodes)) job.nodes = TRY(row.count(columns.nodes, "nodes"));
    if (is_given(row, columns.limit)) job.limit = TRY(seconds_in(row, columns.limit, "limit"));
    job.account = text_in(row, columns.account);
    job.user = text_in(row, columns.user);
    job.partition = text_in(row, columns.partition);
    job.qos = text_in(row, columns.qos);
    return job;
}

}  // namespace

Result<Trace> parse_gpu_csv(const std::string& path, std::string_view text) {
    Trace trace;
    std::optional<CsvColumns> columns;
    std::size_t number = 0, width = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        line = trim(line);
        if (line.empty()) continue;
        TableRow row{path, number, split(line, ',')};
        if (!columns) {
            columns = TRY(csv_columns(row));
            width = row.cells.size();
            continue;
        }
        if (row.cells.size() != width) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("{}:{}: {} columns: the header line has {}", path, number,
                                     row.cells.size(), width)};
        }
        trace.jobs.push_back(TRY(csv_job(row, *columns)));
        trace.jobs.back().name = fmt::format("{}", trace.jobs.size());
    }
    return trace;
}

}  // namespace sluice
