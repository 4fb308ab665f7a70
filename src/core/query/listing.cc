#include "core/query/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/query/columns_of.h"
#include "core/query/match.h"
#include "model/errors.h"
#include "model/license.h"

namespace sluice {

namespace {

template <typename Record>
Result<Table> fill(const Snapshot& snapshot, const std::vector<const Record*>& rows,
                   const std::vector<ColumnSource<Record>>& sources,
                   const std::vector<ColumnId>& wanted) {
    Table table;
    table.set_rows(rows.size());
    std::string scratch;
    for (ColumnId id : wanted) {
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
                if (column.texts.empty() || text != last) {  // neighbours are often alike
                    last_index = table.intern(text);
                    last = text;
                }
                column.texts.push_back(last_index);
            }
        }
        column.shorten();
        table.add_column(id) = std::move(column);
    }
    return table;
}

const Partition* find_partition(const Snapshot& snapshot, std::string_view name) {
    for (const Partition& partition : *snapshot.partitions) {
        if (partition.config.name == name) return &partition;
    }
    return nullptr;
}

std::optional<NodeIndex> find_node(const Snapshot& snapshot, const std::string& name) {
    std::optional<NodeIndex> found;
    snapshot.nodes.for_each([&](const Node& node) {
        if (node.config.name == name) found = node.index;
    });
    return found;
}

bool is_hidden(const Snapshot& snapshot, const Job& job, const Filter& filter) {
    if (filter.include_hidden || !filter.partitions.empty()) return false;
    const Partition* partition = find_partition(snapshot, job.partition);
    return partition && partition->config.hidden;
}

bool means(const JobRef& ref, const Job& job) {
    if (!ref.tasks) return job.id == ref.job || job.array_job == ref.job;
    return job.array_job == ref.job && has_any_task(job, *ref.tasks);
}

// Jobs named by id: looked up, not searched for, unless tasks of an array are meant.
Result<std::vector<std::shared_ptr<const Job>>> named_jobs(const Snapshot& snapshot,
                                                           const Filter& filter,
                                                           const Viewer& viewer) {
    std::vector<std::shared_ptr<const Job>> jobs;
    auto find = [&](JobId id) {
        auto job = snapshot.jobs.find(id.value);
        return job && viewer.sees_jobs_of(job->user) ? job : nullptr;
    };
    for (const JobRef& ref : filter.jobs) {
        auto record = find(ref.job);
        bool single = record && !record->array_job && !ref.tasks;
        if (single) {
            jobs.push_back(std::move(record));
            continue;
        }
        // An array's tasks have later ids than the array itself.
        snapshot.jobs.for_each([&](const Job& job) {
            if (means(ref, job) && viewer.sees_jobs_of(job.user))
                jobs.push_back(snapshot.jobs.find(job.id.value));
        });
    }
    std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    bool one = filter.jobs.size() == 1;
    // Compat: a task that does not exist, of an array that does, is no error.
    bool known = one && find(filter.jobs.front().job);
    if (jobs.empty() && one && !known) return Error{ErrorCode::InvalidJobId, {}};
    return jobs;
}

Result<std::vector<std::shared_ptr<const Job>>> select_jobs(const Snapshot& snapshot,
                                                            const Filter& filter,
                                                            const Viewer& viewer) {
    JobMatcher matcher(filter, [&](const std::string& name) { return find_node(snapshot, name); });
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
    snapshot.nodes.for_each([&](const Node& node) {
        bool named = filter.nodes.empty() || std::find(filter.nodes.begin(), filter.nodes.end(),
                                                       node.config.name) != filter.nodes.end();
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
    for (const auto& job : jobs) {
        if (!is_live(*job) || !job->allocation) continue;
        auto wanted = [&](StepId id) {
            return filter.jobs.empty() ||
                   std::any_of(filter.jobs.begin(), filter.jobs.end(), [&](const JobRef& ref) {
                       return means(ref, *job) && (!ref.step || *ref.step == id);
                   });
        };
        for (const auto& step : job->steps) {
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
        case TableKind::Qos:
            return fill(snapshot, named_in(filter, *snapshot.qos), qos_columns(), columns);
    }
    return Error{ErrorCode::NotSupported, "unknown kind of table"};
}

}  // namespace sluice
