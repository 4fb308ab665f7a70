#include "core/query/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/query/columns_of.h"
#include "core/query/match.h"
#include "core/schedule/priority.h"
#include "model/errors.h"
#include "model/license.h"
#include "model/sizes.h"

namespace sluice {

namespace {

Error too_large(const Table& table) {
    return {
        ErrorCode::MessageTooLarge,
        fmt::format("a listing of {} rows with these columns has more than {} MB: ask for fewer "
                    "jobs or fewer columns",
                    table.rows(), sizes::kListing >> 20)};
}

template <typename Record>
Result<Table> fill(const Snapshot& snapshot, const std::vector<const Record*>& rows,
                   const std::vector<ColumnSource<Record>>& sources,
                   const std::vector<ColumnId>& wanted) {
    Table table;
    table.set_rows(rows.size());
    std::string scratch;
    for (ColumnId id : wanted) {
        if (table.has(id)) {
            return Error{ErrorCode::ProtocolError, fmt::format("column {} is named twice", id)};
        }
        auto source =
            std::find_if(sources.begin(), sources.end(), [&](const auto& s) { return s.id == id; });
        if (source == sources.end()) {
            return Error{ErrorCode::NotSupported,
                         fmt::format("column {} is not known to this controller", id)};
        }
        Table::Column column{.id = id, .numbers = {}, .texts = {}};
        if (source->number) {
            column.numbers.reserve(rows.size());
            for (const Record* row : rows) column.numbers.push_back(source->number(*row, snapshot));
        } else {
            column.texts.reserve(rows.size());
            std::string last;
            std::uint32_t last_index = 0;
            for (const Record* row : rows) {
                std::string_view text = source->text(*row, snapshot, scratch);
                if (column.texts.empty() || text != last) {  // neighbours are often equal
                    last_index = table.intern(text);
                    last = text;
                    if (table.text_bytes() > sizes::kListing) return too_large(table);
                }
                column.texts.push_back(last_index);
            }
        }
        column.shorten();
        table.add_column(id) = std::move(column);
        if (table.bytes_most() > sizes::kListing) return too_large(table);
    }
    return table;
}

const Partition* find_partition(const Snapshot& snapshot, std::string_view name) {
    for (const Partition& partition : *snapshot.partitions) {
        if (partition.config.name == name) return &partition;
    }
    return nullptr;
}

bool is_hidden(const Snapshot& snapshot, const Job& job, const Filter& filter) {
    if (filter.include_hidden || !filter.partitions.empty()) return false;
    const Partition* partition = find_partition(snapshot, job.partition);
    return partition && partition->config.hidden;
}

// Matches jobs against the named ones. By id, so that many names cost no more than one.
class NamedJobs {
public:
    explicit NamedJobs(const std::vector<JobRef>& refs) {
        for (const JobRef& ref : refs) by_id_.emplace(ref.job.value, &ref);
    }

    // Whether a reference to the job satisfies `is_meant`.
    template <typename IsMeant>
    bool any(const Job& job, IsMeant is_meant) const {
        if (any_of(job.id, job, is_meant)) return true;
        return job.array_job && *job.array_job != job.id && any_of(*job.array_job, job, is_meant);
    }
    bool contain(const Job& job) const {
        return any(job, [](const JobRef&) { return true; });
    }

private:
    template <typename IsMeant>
    bool any_of(JobId id, const Job& job, IsMeant is_meant) const {
        const auto [first, last] = by_id_.equal_range(id.value);
        return std::any_of(first, last, [&](const auto& entry) {
            const JobRef& ref = *entry.second;
            const bool named =
                !ref.tasks || (job.array_job == ref.job && has_any_task(job, *ref.tasks));
            return named && is_meant(ref);
        });
    }

    std::unordered_multimap<std::uint32_t, const JobRef*> by_id_;
};

Error unknown_job(const Snapshot& snapshot, JobId id) {
    const std::string key = std::to_string(id.value);
    for (const DamagedRow& row : *snapshot.damaged) {
        if (row.kind != "job" || row.key != key) continue;
        return {ErrorCode::InvalidJobId,
                fmt::format("the stored record of job {} is damaged", key)};
    }
    return {ErrorCode::InvalidJobId, {}};
}

// Jobs named by id: looked up, not searched for, except for arrays and unknown jobs.
Result<std::vector<std::shared_ptr<const Job>>> named_jobs(const Snapshot& snapshot,
                                                           const Filter& filter,
                                                           const Viewer& viewer) {
    std::vector<std::shared_ptr<const Job>> jobs;
    auto find = [&](JobId id) {
        auto job = snapshot.jobs.find(id.value);
        return job && viewer.sees_jobs_of(job->user) ? job : nullptr;
    };
    std::vector<JobRef> others;
    for (const JobRef& ref : filter.jobs) {
        auto record = find(ref.job);
        if (record && !record->array_job && !ref.tasks)
            jobs.push_back(std::move(record));
        else
            others.push_back(ref);
    }
    const NamedJobs named(others);
    // An array's tasks have later ids than the array itself.
    if (!others.empty()) {
        snapshot.jobs.for_each([&](const Job& job) {
            if (named.contain(job) && viewer.sees_jobs_of(job.user))
                jobs.push_back(snapshot.jobs.find(job.id.value));
        });
    }
    std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    bool one = filter.jobs.size() == 1;
    // Compat: a task that does not exist, of an array that does, is no error.
    bool known = one && find(filter.jobs.front().job);
    if (jobs.empty() && one && !known) return unknown_job(snapshot, filter.jobs.front().job);
    return jobs;
}

// The indexes of the nodes that a filter names, from one walk over all nodes.
std::vector<NodeIndex> filtered_nodes(const Snapshot& snapshot, const Filter& filter) {
    std::vector<NodeIndex> found;
    if (filter.nodes.empty()) return found;
    const std::unordered_set<std::string_view> names(filter.nodes.begin(), filter.nodes.end());
    snapshot.nodes.for_each([&](const Node& node) {
        if (names.contains(node.config.name)) found.push_back(node.index);
    });
    return found;
}

Result<std::vector<std::shared_ptr<const Job>>> select_jobs(const Snapshot& snapshot,
                                                            const Filter& filter,
                                                            const Viewer& viewer) {
    JobMatcher matcher(filter, filtered_nodes(snapshot, filter));
    std::vector<std::shared_ptr<const Job>> jobs;
    if (!filter.jobs.empty()) {
        jobs = TRY(named_jobs(snapshot, filter, viewer));
        std::erase_if(jobs, [&](const auto& job) { return !matcher.matches(*job); });
        return jobs;
    }
    snapshot.jobs.for_each_record(
        [&](const ChunkSummary<Job>& summary) { return matcher.wants(summary); },
        [&](const std::shared_ptr<Job>& job) {
            if (!matcher.matches(*job) || !viewer.sees_jobs_of(job->user)) return;
            if (!is_hidden(snapshot, *job, filter)) jobs.push_back(job);
        });
    return jobs;
}

Result<Table> list_jobs(const Snapshot& snapshot, const std::vector<ColumnId>& columns,
                        const Filter& filter, const Viewer& viewer) {
    auto jobs = TRY(select_jobs(snapshot, filter, viewer));
    std::vector<const Job*> rows;
    rows.reserve(jobs.size());
    for (const auto& job : jobs) rows.push_back(job.get());
    return fill(snapshot, rows, job_columns(), columns);
}

Result<Table> list_nodes(const Snapshot& snapshot, const std::vector<ColumnId>& columns,
                         const Filter& filter) {
    std::vector<const Node*> rows;
    const std::unordered_set<std::string_view> names(filter.nodes.begin(), filter.nodes.end());
    snapshot.nodes.for_each([&](const Node& node) {
        bool named = names.empty() || names.contains(node.config.name);
        if (named && !node.removed) rows.push_back(&node);
    });
    if (rows.empty() && filter.nodes.size() == 1)
        return Error{ErrorCode::InvalidNodeName, filter.nodes.front()};
    return fill(snapshot, rows, node_columns(), columns);
}

Result<Table> list_partitions(const Snapshot& snapshot, const std::vector<ColumnId>& columns,
                              const Filter& filter) {
    std::vector<const Partition*> rows;
    for (const Partition& partition : *snapshot.partitions) {
        bool named = std::find(filter.partitions.begin(), filter.partitions.end(),
                               partition.config.name) != filter.partitions.end();
        if (named ||
            (filter.partitions.empty() && (filter.include_hidden || !partition.config.hidden))) {
            rows.push_back(&partition);
        }
    }
    return fill(snapshot, rows, partition_columns(), columns);
}

Result<Table> list_steps(const Snapshot& snapshot, const std::vector<ColumnId>& columns,
                         const Filter& filter, const Viewer& viewer) {
    auto jobs = TRY(select_jobs(snapshot, filter, viewer));
    std::vector<StepRow> steps;
    const NamedJobs named(filter.jobs);
    for (const auto& job : jobs) {
        if (!is_live(*job) || !job->run.allocation) continue;
        auto wanted = [&](StepId id) {
            return filter.jobs.empty() ||
                   named.any(*job, [&](const JobRef& ref) { return !ref.step || *ref.step == id; });
        };
        for (const auto& step : job->run.steps) {
            if (step->state == StepState::Running && wanted(step->id))
                steps.push_back({job.get(), step.get()});
        }
        if (job->request->kind == JobKind::Batch && wanted(kBatchStep))
            steps.push_back({job.get(), nullptr});
    }
    std::vector<const StepRow*> rows;
    for (const StepRow& step : steps) rows.push_back(&step);
    return fill(snapshot, rows, step_columns(), columns);
}

struct LicenseRow {
    std::string name;
    std::uint32_t total = 0;
    std::uint32_t used = 0;
    std::uint32_t reserved = 0;
};

const std::vector<ColumnSource<LicenseRow>> kLicenseColumns = {
    {LicenseColumn::Name,
     [](const LicenseRow& row, const Snapshot&, std::string&) -> std::string_view {
         return row.name;
     }},
    {LicenseColumn::Total,
     [](const LicenseRow& row, const Snapshot&) -> std::int64_t { return row.total; }},
    {LicenseColumn::Used,
     [](const LicenseRow& row, const Snapshot&) -> std::int64_t { return row.used; }},
    {LicenseColumn::Reserved,
     [](const LicenseRow& row, const Snapshot&) -> std::int64_t { return row.reserved; }},
};

std::uint32_t licenses_reserved(const Snapshot& snapshot, const std::string& name) {
    std::uint32_t sum = 0;
    for (const Reservation& each : *snapshot.reservations) {
        if (each.licenses.empty() || !each.is_active(snapshot.time)) continue;
        for (const LicenseCount& license : parse_licenses(each.licenses).value().wanted) {
            if (license.name == name) sum += license.count;
        }
    }
    return sum;
}

Result<Table> list_licenses(const Snapshot& snapshot, const std::vector<ColumnId>& columns,
                            const Filter& filter) {
    std::vector<LicenseRow> licenses;
    for (const auto& [name, total] : snapshot.settings->licenses) {
        bool named =
            std::find(filter.names.begin(), filter.names.end(), name) != filter.names.end();
        if (!named && !filter.names.empty()) continue;
        auto used = snapshot.licenses_used.find(name);
        licenses.push_back({name, total, used == snapshot.licenses_used.end() ? 0 : used->second,
                            licenses_reserved(snapshot, name)});
    }
    std::sort(licenses.begin(), licenses.end(),
              [](const LicenseRow& a, const LicenseRow& b) { return a.name < b.name; });
    std::vector<const LicenseRow*> rows;
    for (const LicenseRow& license : licenses) rows.push_back(&license);
    return fill(snapshot, rows, kLicenseColumns, columns);
}

Result<Table> list_shares(const Snapshot& snapshot, const std::vector<ColumnId>& columns,
                          const Filter& filter, const Viewer& viewer) {
    const FairShare& shares = *snapshot.priority_scale->shares;
    std::vector<ShareRow> found = select_shares(shares, filter);
    std::erase_if(found, [&](const ShareRow& row) {
        return !viewer.sees_usage_of(*row.line->association, *shares.tree);
    });
    std::vector<std::map<std::string, double>> running;
    const auto run_seconds = static_cast<ColumnId>(ShareColumn::TresRunSeconds);
    if (std::find(columns.begin(), columns.end(), run_seconds) != columns.end()) {
        running = run_seconds_by_line(snapshot);
        for (ShareRow& row : found) row.run_seconds = &running[row.line - shares.lines.data()];
    }
    std::vector<const ShareRow*> rows;
    for (const ShareRow& row : found) rows.push_back(&row);
    return fill(snapshot, rows, share_columns(), columns);
}

// Reservations and QOS: all, or those that the filter names.
template <typename Record>
std::vector<const Record*> named_in(const Filter& filter, const std::vector<Record>& records) {
    std::vector<const Record*> rows;
    for (const Record& record : records) {
        bool named =
            std::find(filter.names.begin(), filter.names.end(), record.name) != filter.names.end();
        if (named || filter.names.empty()) rows.push_back(&record);
    }
    return rows;
}

}  // namespace

Result<Table> list_rows(const Snapshot& snapshot, TableKind kind,
                        const std::vector<ColumnId>& columns, const Filter& filter,
                        const Viewer& viewer) {
    TRY(viewer.may_list(kind));
    switch (kind) {
        case TableKind::Jobs:
            return list_jobs(snapshot, columns, filter, viewer);
        case TableKind::Nodes:
            return list_nodes(snapshot, columns, filter);
        case TableKind::Partitions:
            return list_partitions(snapshot, columns, filter);
        case TableKind::Steps:
            return list_steps(snapshot, columns, filter, viewer);
        case TableKind::Licenses:
            return list_licenses(snapshot, columns, filter);
        case TableKind::Reservations: {
            auto rows = named_in(filter, *snapshot.reservations);
            std::erase_if(rows, [&](const Reservation* each) { return !viewer.sees(*each); });
            return fill(snapshot, rows, reservation_columns(), columns);
        }
        case TableKind::Shares:
            return list_shares(snapshot, columns, filter, viewer);
    }
    return Error{ErrorCode::NotSupported, "unknown kind of table"};
}

}  // namespace sluice
