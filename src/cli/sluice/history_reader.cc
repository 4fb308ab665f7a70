// See history_reader.h.
#include "cli/sluice/history_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "os/user.h"

namespace sluice {

namespace {

constexpr std::size_t kProgressEvery = 100'000;  // lines
constexpr GroupId kNoGroup{65534};

Error wrong_line(const TableRow& row, std::string_view why) {
    return {ErrorCode::BadArgument, fmt::format("{}:{}: {}", row.path, row.line, why)};
}

// The number of the job itself: that of an array task is in JobIDRaw only.
std::optional<JobId> own_id(const HistoryLine& line) {
    if (line.raw_id) return line.raw_id->job;
    if (line.id.tasks) return {};
    return JobId{line.id.job.value + line.id.het_component.value_or(0)};
}

void finish_usage(HistoryLine& line) {
    Usage& usage = line.step.usage;
    // The parts are cut to milliseconds, or unknown.
    if (line.total_cpu && *line.total_cpu > usage.cpu_user + usage.cpu_system)
        usage.cpu_user = *line.total_cpu - usage.cpu_system;
    if (!line.is_sampled) return;
    line.usage.tasks = std::max(1u, line.usage.tasks);
    for (TaskAmounts* amounts : {&line.usage.cpu_ms, &line.usage.rss_kb})
        amounts->total *= line.usage.tasks;  // it was the average
    usage.rss_max_kb = line.usage.rss_kb.most;
    usage.rss_max_node = line.usage.rss_kb.most_node;
    usage.tasks = std::make_shared<const TaskUsage>(line.usage);
}

Seconds suspended_in(const HistoryLine& line) {
    if (line.suspended && *line.suspended > Seconds{0}) return *line.suspended;
    if (!line.start || !line.end || !line.elapsed) return Seconds{0};
    return std::max(*line.end - *line.start - *line.elapsed, Seconds{0});
}

// Without AllocTRES: what the counts say.
Tres resources_of(const HistoryLine& line) {
    if (line.tres_allocated) return *line.tres_allocated;
    Tres tres;
    if (!line.start) return tres;
    if (line.cpus) tres["cpu"] = tres["billing"] = *line.cpus;
    if (line.nodes) tres["node"] = *line.nodes;
    return tres;
}

void fill_job(HistoryLine& line, AccountedJob& job) {
    job = std::move(line.job);
    job.name = line.name;
    job.account = to_lower(line.account);
    job.state = *line.state;
    job.killed_by = line.killed_by;
    job.start = line.start;
    job.end = line.end;
    job.submit = line.submit.value_or(line.start.value_or(*line.end));
    job.eligible = line.eligible.value_or(job.submit);
    job.suspended = suspended_in(line);
    job.time_limit = line.time_limit;
    job.tres_allocated = resources_of(line);
    job.tres_requested = line.tres_requested.value_or(job.tres_allocated);
    const auto requested = [&](const char* name, std::optional<std::uint32_t> given) {
        const auto found = job.tres_requested.find(name);
        const std::uint64_t count = found == job.tres_requested.end() ? 0 : found->second;
        return given.value_or(static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 1u << 30)));
    };
    job.cpus_requested = requested("cpu", line.cpus_requested);
    job.nodes_requested = requested("node", line.nodes_requested);
    job.node_names = line.node_names;
    job.node_count = line.start ? line.nodes.value_or(0) : 0;
    job.exit = line.exit;
}

}  // namespace

HistoryReader::HistoryReader(const HistorySource& source,
                             std::function<Result<void>(AccountedRun)> each)
    : source_(source), each_(std::move(each)) {
    for (const Association& association : source_.policy.associations) {
        if (association.cluster != source_.cluster || association.user.empty()) continue;
        associations_.emplace(std::pair(association.account, association.user), &association);
    }
}

Result<void> HistoryReader::read(const std::string& path, std::string_view text) {
    columns_.clear();
    runs_of_.clear();
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (progress && number % kProgressEvery == 0) progress(number);
        if (trim(line).empty()) continue;
        TableRow row{path, number, split(line, source_.delimiter)};
        if (columns_.empty()) {
            TRY(read_header(row));
            continue;
        }
        // sacct -p ends each line with a delimiter.
        if (row.cells.size() == columns_.size() + 1 && row.cells.back().empty())
            row.cells.pop_back();
        TRY(read_line(row));
    }
    if (columns_.empty()) return Error{ErrorCode::BadArgument, path + ": there is no header line"};
    return end_run();
}

Result<void> HistoryReader::read_header(const TableRow& row) {
    std::vector<std::string_view> names = row.cells;
    if (names.size() > 1 && names.back().empty()) names.pop_back();
    for (const std::string_view name : names) {
        const HistoryColumn* column = find_history_column(trim(name));
        columns_.push_back(column);
        const bool is_reported =
            std::find(unused_.begin(), unused_.end(), trim(name)) != unused_.end();
        if (!column && !is_derived_column(trim(name)) && !is_reported)
            unused_.emplace_back(trim(name));
    }
    const TableHeader header(row);
    for (const char* name : {"jobid", "account", "state", "start", "end"})
        TRY(header.required(row.path, name));
    const auto has = [&](std::string_view name) { return header.find(name) != TableHeader::npos; };
    if (!has("user") && !has("uid")) TRY(header.required(row.path, "user"));
    if (!has("alloctres") && !has("ncpus") && !has("alloccpus"))
        TRY(header.required(row.path, "alloctres"));
    return {};
}

Result<HistoryLine> HistoryReader::parse(const TableRow& row) const {
    if (row.cells.size() != columns_.size()) {
        return wrong_line(row, fmt::format("{} columns: the header line has {} (sacct --delimiter "
                                           "avoids a character that names have)",
                                           row.cells.size(), columns_.size()));
    }
    HistoryLine line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string_view cell = trim(row.cells[i]);
        if (!columns_[i] || cell.empty()) continue;
        if (cell.size() > sizes::kSubmitLine)
            return row.wrong(i, columns_[i]->name, "a shorter text");
        if (!columns_[i]->set(line, cell))
            return row.wrong(i, columns_[i]->name, columns_[i]->expected);
    }
    if (line.id.job.value == 0) return wrong_line(row, "there is no JobID");
    if (!line.cluster.empty() && line.cluster != source_.cluster && !source_.any_cluster) {
        return wrong_line(row,
                          fmt::format("a job of cluster {0} (--cluster={1} imports it into {1})",
                                      line.cluster, source_.cluster));
    }
    return line;
}

Result<void> HistoryReader::read_line(const TableRow& row) {
    Result<HistoryLine> line = parse(row);
    if (!line) {
        bad_.push_back({row.line, line.error().detail});
        return {};
    }
    const bool is_step = line->id.step.has_value();
    if (!is_step) TRY(end_run());
    const Result<void> done =
        is_step ? add_step(row, *std::move(line)) : begin_run(row, *std::move(line));
    if (!done) bad_.push_back({row.line, done.error().detail});
    return {};
}

Result<void> HistoryReader::begin_run(const TableRow& row, HistoryLine line) {
    left_out_ = line.id.job.value;
    if (!line.state) return wrong_line(row, "there is no State");
    if (!line.end) {
        ++unfinished_;
        return {};
    }
    if (line.start && *line.end < *line.start) return wrong_line(row, "End is before Start");
    const std::optional<JobId> id = own_id(line);
    if (!id) return wrong_line(row, "an array task: its own number is missing (column JobIDRaw)");
    AccountedRun run{
        .cluster = source_.cluster, .job = {}, .steps = {}, .script = {}, .environment = {}};
    fill_job(line, run.job);
    run.job.job = *id;
    if (line.id.tasks) {
        run.job.array_job = line.id.job;
        run.job.array_task = line.id.tasks->first();
    }
    const std::optional<UserId> user = user_of(line);
    if (!user) {
        return wrong_line(
            row, fmt::format("user '{}' is not known here, and there is no column UID", line.user));
    }
    run.job.user = *user;
    if (line.user.empty()) line.user = name_of(*user);
    run.job.group = group_of(line, run.job.user);
    run.job.association = association_of(line, run.job);
    if (run.job.association == 0) ++without_association_;
    std::uint32_t& seen = runs_of_[id->value];
    run.job.restarts = line.restarts.value_or(seen);
    ++seen;
    left_out_.reset();
    run_ = std::move(run);
    return {};
}

Result<void> HistoryReader::add_step(const TableRow& row, HistoryLine line) {
    if (left_out_ == line.id.job.value) return {};
    if (!run_ || own_id(line) != run_->job.job)
        return wrong_line(row, "a step without a line of its job before it");
    if (!line.state || !line.start) return wrong_line(row, "there is no State or no Start");
    finish_usage(line);
    AccountedStep step = std::move(line.step);
    step.job = run_->job.job;
    step.restarts = run_->job.restarts;
    step.step = *line.id.step;
    step.name = line.name;
    step.user = run_->job.user;
    step.state = *line.state;
    step.exit = line.exit;
    step.killed_by = line.killed_by;
    step.start = *line.start;
    step.end = line.end ? line.end : run_->job.end;
    step.suspended = suspended_in(line);
    step.time_limit = line.time_limit;
    step.cpus = line.cpus.value_or(0);
    step.node_count = line.nodes.value_or(0);
    step.node_names = line.node_names;
    step.tres_allocated = resources_of(line);
    if (step.step == kBatchStep) run_->job.is_batch = true;
    run_->steps.push_back(std::move(step));
    ++steps_;
    return {};
}

Result<void> HistoryReader::end_run() {
    left_out_.reset();
    if (!run_) return {};
    AccountedRun run = *std::move(run_);
    run_.reset();
    return each_(std::move(run));
}

std::optional<UserId> HistoryReader::user_of(const HistoryLine& line) {
    if (line.uid) return UserId{*line.uid};
    auto [place, is_new] = users_.try_emplace(line.user);
    if (is_new && !line.user.empty()) {
        for (const PolicyUser& each : source_.policy.users)
            if (each.name == line.user) place->second = each.uid;
        const std::optional<User> known = place->second ? std::nullopt : find_user(line.user);
        if (known) place->second = UserId{known->uid};
    }
    return place->second;
}

std::string HistoryReader::name_of(UserId user) {
    auto [place, is_new] = names_.try_emplace(user);
    if (!is_new) return place->second;
    for (const PolicyUser& each : source_.policy.users)
        if (each.uid == user) place->second = each.name;
    const std::optional<User> known = place->second.empty() ? find_user(user.value) : std::nullopt;
    if (known) place->second = known->name;
    return place->second;
}

GroupId HistoryReader::group_of(const HistoryLine& line, UserId user) {
    if (line.gid) return GroupId{*line.gid};
    auto [place, is_new] = groups_.try_emplace({line.group, user}, kNoGroup);
    if (!is_new) return place->second;
    if (const auto group = line.group.empty() ? std::nullopt : find_group(line.group)) {
        place->second = GroupId{*group};
    } else if (const std::optional<User> known = find_user(user.value)) {
        place->second = GroupId{known->gid};
    }
    return place->second;
}

// That of the partition if there is one; a deleted one if there is no other.
std::uint32_t HistoryReader::association_of(const HistoryLine& line,
                                            const AccountedJob& job) const {
    const auto [first, last] = associations_.equal_range({job.account, to_lower(line.user)});
    std::uint32_t best = 0;
    int best_rank = 0;
    for (auto next = first; next != last; ++next) {
        const Association& each = *next->second;
        if (!each.partition.empty() && each.partition != job.partition) continue;
        const int rank = (each.deleted ? 0 : 2) + (each.partition.empty() ? 1 : 2);
        if (rank <= best_rank) continue;
        best_rank = rank;
        best = each.id;
    }
    return best;
}

}  // namespace sluice
