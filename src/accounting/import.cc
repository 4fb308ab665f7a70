// See import.h.
#include "accounting/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "accounting/facts.h"
#include "accounting/rows.h"
#include "model/used_fields.h"

namespace sluice::accounting {

namespace {

enum class Place : std::uint8_t { Free, Known, Taken };

Result<Place> place_of(sql::Database& database, const std::string& cluster,
                       const AccountedJob& job) {
    const std::vector<AccountedJob> runs = TRY(
        query_values<AccountedJob>(database, "SELECT data FROM jobs WHERE cluster = ? AND job = ?",
                                   {cluster, std::int64_t{job.job.value}}, "jobs"));
    const auto is_same = [&](const AccountedJob& each) {
        return each.submit == job.submit && each.start == job.start && each.end == job.end;
    };
    if (std::any_of(runs.begin(), runs.end(), is_same)) return Place::Known;
    const auto is_in_place = [&](const AccountedJob& each) {
        return each.restarts == job.restarts;
    };
    return std::any_of(runs.begin(), runs.end(), is_in_place) ? Place::Taken : Place::Free;
}

// By association, QOS and the hour in which the runs ended.
class UsageSums {
public:
    void add(const AccountedJob& job) {
        if (!job.start || job.association == 0) return;
        const auto length = static_cast<double>((*job.end - *job.start - job.suspended).count());
        if (length <= 0) return;
        const Time hour = std::chrono::floor<std::chrono::hours>(*job.end);
        UsedAmounts& sum = sums_[{job.association, job.qos, hour}];
        sum.wall_seconds += length;
        for (const auto& [name, amount] : job.tres_allocated)
            sum.tres_seconds[name] += static_cast<double>(amount) * length;
    }
    std::vector<ImportedUsage> all() const {
        std::vector<ImportedUsage> used;
        for (const auto& [key, amounts] : sums_)
            used.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), amounts});
        return used;
    }

private:
    std::map<std::tuple<std::uint32_t, std::string, Time>, UsedAmounts> sums_;
};

Result<void> put_import(sql::Database& database, const std::string& cluster,
                        std::vector<ImportedUsage> used) {
    if (used.empty()) return {};
    UsageImport import{.number = 1, .used = std::move(used)};
    TRY(database.query("SELECT MAX(id) FROM imports WHERE cluster = ?", {cluster},
                       [&](const sql::RowView& row) -> Result<void> {
                           if (!row.is_null(0))
                               import.number = static_cast<std::uint64_t>(row.number(0)) + 1;
                           return {};
                       }));
    TRY(database.run("INSERT INTO imports (cluster, id, data) VALUES (?, ?, ?)",
                     {cluster, number_of(import.number), row_bytes(import)}));
    return {};
}

}  // namespace

Result<ImportOutcome> import_runs(sql::Database& database, const std::string& cluster,
                                  const std::vector<AccountedRun>& runs, bool only_check) {
    ImportOutcome outcome;
    UsageSums sums;
    for (const AccountedRun& run : runs) {
        if (!run.job.end) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("job {} has not ended", run.job.job.value)};
        }
        const Place place = TRY(place_of(database, cluster, run.job));
        if (place == Place::Known) ++outcome.known;
        if (place == Place::Taken) outcome.taken.push_back(run.job.job.value);
        if (place != Place::Free) continue;
        ++outcome.added;
        if (only_check) continue;
        TRY(put_fact(database, cluster, run.job));
        for (const AccountedStep& step : run.steps) TRY(put_fact(database, cluster, step));
        sums.add(run.job);
    }
    TRY(put_import(database, cluster, sums.all()));
    return outcome;
}

Result<std::vector<UsageImport>> imports_after(sql::Database& database, const std::string& cluster,
                                               std::uint64_t number) {
    return query_values<UsageImport>(
        database, "SELECT data FROM imports WHERE cluster = ? AND id > ? ORDER BY id LIMIT 16",
        {cluster, number_of(number)}, "imports");
}

}  // namespace sluice::accounting
