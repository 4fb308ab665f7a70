// sim/traces/sacct.cc
//
// What `sacct -P -X -o JobID,Submit,Start,End,Elapsed,Timelimit,ReqTRES,Account,User,Partition,QOS`
// prints, in any order of columns. Steps are left out, array tasks are jobs like any other. Left
// out and counted are jobs that never started, and those of which no column says what they had.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/text_table.h"
#include "model/times.h"
#include "sim/traces/trace.h"

namespace sluice {
namespace {

struct Column {
    std::size_t place;
    std::string_view name;
};

struct SacctColumns {
    std::size_t job, submit;
    std::size_t start, end, elapsed, limit;  // may be absent
    std::vector<Column> tres, cpus, nodes;   // those there are, the best first
    std::size_t account, user, partition, qos;
};

std::vector<Column> those_in(const TableHeader& header,
                             std::initializer_list<std::string_view> names) {
    std::vector<Column> found;
    for (std::string_view name : names) {
        std::size_t place = header.find(to_lower(name));
        if (place != TableHeader::npos) found.push_back({place, name});
    }
    return found;
}

Result<SacctColumns> sacct_columns(const TableRow& row) {
    TableHeader header(row);
    SacctColumns columns{};
    columns.job = TRY(header.required(row.path, "jobid"));
    columns.submit = TRY(header.required(row.path, "submit"));
    columns.start = header.find("start");
    columns.end = header.find("end");
    columns.elapsed = header.find("elapsed");
    columns.limit = header.find("timelimit");
    // What was asked if that is known, else what was given.
    columns.tres = those_in(header, {"ReqTRES", "AllocTRES"});
    columns.cpus = those_in(header, {"NCPUS", "AllocCPUS", "ReqCPUS"});
    columns.nodes = those_in(header, {"NNodes", "AllocNodes", "ReqNodes"});
    columns.account = header.find("account");
    columns.user = header.find("user");
    columns.partition = header.find("partition");
    columns.qos = header.find("qos");
    if (columns.elapsed == TableHeader::npos) TRY(header.required(row.path, "start"));
    if (columns.elapsed == TableHeader::npos) TRY(header.required(row.path, "end"));
    if (columns.tres.empty() && columns.cpus.empty()) TRY(header.required(row.path, "ncpus"));
    return columns;
}

std::string_view cell_in(const TableRow& row, std::size_t column) {
    return column == TableHeader::npos ? std::string_view() : trim(row.cells[column]);
}

// Absent: "Unknown" or "None", it has not happened.
Result<std::optional<Time>> moment_in(const TableRow& row, std::size_t column,
                                      std::string_view name) {
    std::string_view cell = cell_in(row, column);
    if (cell.empty() || cell == "Unknown" || cell == "None") return std::optional<Time>();
    Result<Time> moment = parse_moment(cell, Time{}, PassedTime::IsMeant);
    if (!moment) return row.wrong(column, name, "a time such as 2026-01-31T12:00:00");
    return std::optional<Time>(*moment);
}

Result<std::optional<Seconds>> duration_in(const TableRow& row, const SacctColumns& columns) {
    auto start = TRY(moment_in(row, columns.start, "Start"));
    if (columns.start != TableHeader::npos && !start) return std::optional<Seconds>();
    if (columns.elapsed == TableHeader::npos) {
        auto end = TRY(moment_in(row, columns.end, "End"));
        if (!end) return std::optional<Seconds>();
        if (*end < *start) return row.wrong(columns.end, "End", "a time after Start");
        return std::optional<Seconds>(*end - *start);
    }
    Result<TimeLimit> elapsed = parse_time_limit(cell_in(row, columns.elapsed));
    if (!elapsed || elapsed->unlimited()) {
        return row.wrong(columns.elapsed, "Elapsed", "a time such as 1-02:03:04");
    }
    // Cancelled while it waited.
    if (columns.start == TableHeader::npos && elapsed->length().count() == 0)
        return std::optional<Seconds>();
    return std::optional<Seconds>(elapsed->length());
}

Result<std::optional<Seconds>> limit_in(const TableRow& row, std::size_t column) {
    std::string_view cell = cell_in(row, column);
    if (cell.empty() || cell == "Partition_Limit") return std::optional<Seconds>();
    Result<TimeLimit> limit = parse_time_limit(cell);
    if (!limit) return row.wrong(column, "Timelimit", "a time such as 1-02:03:04");
    if (limit->unlimited()) return std::optional<Seconds>();
    return std::optional<Seconds>(limit->length());
}

// The first of the columns that says something in this line.
const Column* first_filled(const TableRow& row, const std::vector<Column>& columns) {
    for (const Column& column : columns) {
        if (!cell_in(row, column.place).empty()) return &column;
    }
    return nullptr;
}

Result<void> read_tres(const TableRow& row, const Column& column, TraceJob& job) {
    Result<Tres> tres = parse_tres(cell_in(row, column.place));
    if (!tres) return row.wrong(column.place, column.name, "cpu=N,node=N,...");
    for (const auto& [name, count] : *tres) {
        if (count > 0xffffffff) return row.wrong(column.place, name, "a count");
        auto number = static_cast<std::uint32_t>(count);
        if (name == "cpu") job.cpus = std::max(1u, number);
        if (name == "node") job.nodes = number;
        if (name == "gres/gpu") job.gpus = number;
    }
    if (auto memory = tres->find("mem"); memory != tres->end()) {
        job.mem_per_node = memory->second / std::max(1u, job.nodes);
    }
    return {};
}

// False: no column says what the job had.
Result<bool> read_resources(const TableRow& row, const SacctColumns& columns, TraceJob& job) {
    if (const Column* tres = first_filled(row, columns.tres)) {
        TRY(read_tres(row, *tres, job));
        return true;
    }
    const Column* cpus = first_filled(row, columns.cpus);
    if (!cpus) return false;
    job.cpus = std::max(1u, TRY(row.count(cpus->place, cpus->name)));
    if (const Column* nodes = first_filled(row, columns.nodes)) {
        job.nodes = TRY(row.count(nodes->place, nodes->name));
    }
    return true;
}

Result<std::optional<TraceJob>> sacct_job(const TableRow& row, const SacctColumns& columns) {
    TraceJob job;
    job.name = std::string(cell_in(row, columns.job));
    if (job.name.find('[') != job.name.npos) return std::optional<TraceJob>();  // tasks that wait
    auto submit = TRY(moment_in(row, columns.submit, "Submit"));
    auto duration = TRY(duration_in(row, columns));
    if (!submit || !duration) return std::optional<TraceJob>();
    job.submit = *submit;
    job.duration = *duration;
    job.limit = TRY(limit_in(row, columns.limit));
    if (!TRY(read_resources(row, columns, job))) return std::optional<TraceJob>();
    job.account = std::string(cell_in(row, columns.account));
    job.user = std::string(cell_in(row, columns.user));
    job.partition = std::string(cell_in(row, columns.partition));
    job.qos = std::string(cell_in(row, columns.qos));
    return std::optional<TraceJob>(std::move(job));
}

}  // namespace

Result<Trace> parse_sacct(const std::string& path, std::string_view text) {
    Trace trace;
    std::optional<SacctColumns> columns;
    std::size_t number = 0, width = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        TableRow row{path, number, split(line, '|')};
        if (!columns) {
            columns = TRY(sacct_columns(row));
            width = row.cells.size();
            continue;
        }
        if (row.cells.size() != width) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("{}:{}: {} columns: the header line has {}", path, number,
                                     row.cells.size(), width)};
        }
        if (row.cells[columns->job].find('.') != std::string_view::npos) continue;  // a step
        std::optional<TraceJob> job = TRY(sacct_job(row, *columns));
        if (job)
            trace.jobs.push_back(*std::move(job));
        else
            ++trace.skipped;
    }
    return trace;
}

}  // namespace sluice
