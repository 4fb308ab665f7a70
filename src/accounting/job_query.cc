// accounting/job_query.cc
//
// First the numbers of the jobs that an index finds are read, then the rows of some jobs at a time,
// so that an answer of any size needs little memory. See job_query.h.
#include "accounting/job_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "accounting/job_filter.h"
#include "accounting/rows.h"
#include "model/errors.h"

namespace sluice::accounting {

namespace {

constexpr std::size_t kJobsAtOnce = 256;

template <typename Id>
std::vector<sql::Value> numbers(const std::vector<Id>& ids) {
    std::vector<sql::Value> values;
    for (const Id id : ids) values.emplace_back(std::int64_t{id.value});
    return values;
}

std::vector<sql::Value> texts(const std::vector<std::string>& names, std::string_view prefix = "") {
    std::vector<sql::Value> values;
    for (const std::string& name : names) {
        values.emplace_back(column_text(std::string(prefix) + name));
    }
    return values;
}

using Key = std::pair<JobId, std::uint32_t>;  // job, restarts

class JobQuery {
public:
    JobQuery(sql::Database& database, const JobSelection& selection, const JobFilter& filter,
             const std::function<Result<void>(AccountedRun)>& each)
        : database_(database), selection_(selection), filter_(filter), each_(each) {}

    Result<void> run(const std::string& cluster) {
        cluster_ = cluster;
        std::vector<JobId> jobs = filter_.jobs().empty() ? TRY(all_candidates()) : TRY(named());
        std::sort(jobs.begin(), jobs.end());
        jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
        std::span<const JobId> rest = jobs;
        while (!rest.empty()) {
            const auto part = rest.first(std::min(rest.size(), kJobsAtOnce));
            rest = rest.subspan(part.size());
            TRY(answer({part.begin(), part.end()}));
        }
        return {};
    }

private:
    Result<void> add_jobs(const std::string& statement, const sql::Row& row,
                          std::vector<JobId>& jobs) {
        return database_.query(statement, row, [&](const sql::RowView& found) -> Result<void> {
            jobs.emplace_back(static_cast<std::uint32_t>(found.number(0)));
            return {};
        });
    }

    // Jobs by the conditions that have columns; others may be among them.
    Result<std::vector<JobId>> all_candidates() {
        sql::Row row{cluster_};
        std::string where = "cluster = ?";
        const auto add = [&](std::string_view condition, std::int64_t value) {
            where += condition;
            row.emplace_back(value);
        };
        if (selection_.only_live) add(" AND end_time = ?", kNever);
        if (filter_.start()) add(" AND end_time >= ?", to_unix(*filter_.start()));
        if (filter_.end()) add(" AND eligible <= ?", to_unix(*filter_.end()));
        if (filter_.end() && filter_.only_ended()) {
            add(" AND end_time <= ?", to_unix(*filter_.end()));
        }
        const auto add_list = [&](std::string_view column, const std::vector<sql::Value>& values) {
            if (!values.empty()) where += " AND " + in_list(column, values, row);
        };
        add_list("uid", numbers(selection_.users));
        add_list("gid", numbers(selection_.groups));
        add_list("account", texts(selection_.accounts));
        add_list("qos", texts(selection_.qos));
        std::vector<sql::Value> wckeys = texts(selection_.wckeys);
        for (const sql::Value& other : texts(selection_.wckeys, "*")) wckeys.push_back(other);
        add_list("wckey", wckeys);
        if (!selection_.partitions.empty()) {
            where += fmt::format(" AND ({} OR partition_name LIKE '%,%')",
                                 in_list("partition_name", texts(selection_.partitions), row));
        }
        std::vector<JobId> jobs;
        TRY(add_jobs("SELECT job FROM jobs WHERE " + where, row, jobs));
        return jobs;
    }

    Result<std::vector<JobId>> named() {
        std::vector<JobId> names;
        for (const auto& [job, ref] : filter_.jobs()) names.push_back(job);
        std::vector<JobId> jobs;
        for (std::size_t at = 0; at < names.size(); at += kJobsAtOnce) {
            const std::vector<JobId> part(names.begin() + static_cast<std::ptrdiff_t>(at),
                                          names.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                              names.size(), at + kJobsAtOnce)));
            for (const std::string_view column : {"job", "array_job"}) {
                sql::Row row{cluster_};
                const std::string list = in_list(column, numbers(part), row);
                TRY(add_jobs("SELECT job FROM jobs WHERE cluster = ? AND " + list, row, jobs));
            }
        }
        return jobs;
    }

    // "... cluster = ? AND job IN (...)".
    std::string of_jobs(std::string_view columns_and_table, const std::vector<JobId>& jobs,
                        sql::Row& row) {
        row.emplace_back(cluster_);
        return fmt::format("SELECT {} WHERE cluster = ? AND {}", columns_and_table,
                           in_list("job", numbers(jobs), row));
    }

    Result<std::map<Key, std::vector<UsageInterval>>> suspensions(const std::vector<JobId>& jobs) {
        std::map<Key, std::vector<UsageInterval>> found;
        if (!filter_.asks_for_suspended()) return found;
        sql::Row row;
        const std::string statement =
            of_jobs("job, restarts, start_time, end_time FROM suspends", jobs, row);
        TRY(database_.query(statement, row, [&](const sql::RowView& each) -> Result<void> {
            const Key key{JobId{static_cast<std::uint32_t>(each.number(0))},
                          static_cast<std::uint32_t>(each.number(1))};
            found[key].push_back({from_unix(each.number(2)), from_unix(each.number(3))});
            return {};
        }));
        return found;
    }

    Result<std::vector<AccountedRun>> runs_of(const std::vector<JobId>& jobs) {
        const auto suspended = TRY(suspensions(jobs));
        static const std::vector<UsageInterval> kNone;
        std::vector<AccountedRun> runs;
        sql::Row row;
        const std::string statement =
            of_jobs("data FROM jobs", jobs, row) + " ORDER BY job, restarts";
        TRY(database_.query(statement, row, [&](const sql::RowView& each) -> Result<void> {
            AccountedJob job = TRY(from_bytes<AccountedJob>(each.text(0), "jobs"));
            const auto found = suspended.find({job.job, job.restarts});
            if (!filter_.matches(job, found == suspended.end() ? kNone : found->second)) return {};
            const bool replaces =
                !selection_.all_runs && !runs.empty() && runs.back().job.job == job.job;
            if (!replaces) runs.emplace_back().cluster = cluster_;
            runs.back().job = std::move(job);
            return {};
        }));
        return runs;
    }

    Result<void> add_steps(std::vector<AccountedRun>& runs) {
        std::map<Key, AccountedRun*> by_key;
        std::vector<JobId> jobs;
        for (AccountedRun& run : runs) {
            by_key.emplace(Key{run.job.job, run.job.restarts}, &run);
            jobs.push_back(run.job.job);
        }
        sql::Row row;
        const std::string statement = of_jobs("data FROM steps", jobs, row);
        TRY(database_.query(statement, row, [&](const sql::RowView& each) -> Result<void> {
            AccountedStep step = TRY(from_bytes<AccountedStep>(each.text(0), "steps"));
            const auto run = by_key.find({step.job, step.restarts});
            if (run != by_key.end()) run->second->steps.push_back(std::move(step));
            return {};
        }));
        for (AccountedRun& run : runs) {
            std::sort(run.steps.begin(), run.steps.end(),
                      [](const AccountedStep& a, const AccountedStep& b) {
                          return step_less(a.step, b.step);
                      });
        }
        return {};
    }

    Result<std::string> script(const std::string& hash) {
        std::string bytes;
        if (hash.empty()) return bytes;
        TRY(database_.query("SELECT data FROM scripts WHERE hash = ?", {hash},
                            [&](const sql::RowView& row) -> Result<void> {
                                bytes = row.text(0);
                                return {};
                            }));
        return bytes;
    }

    Result<void> answer(const std::vector<JobId>& jobs) {
        std::vector<AccountedRun> runs = TRY(runs_of(jobs));
        if (runs.empty()) return {};
        if (!selection_.no_steps) TRY(add_steps(runs));
        for (AccountedRun& run : runs) {
            if (!filter_.keep_steps(run)) continue;
            if (selection_.scripts) run.script = TRY(script(run.job.script_hash));
            if (selection_.environments) run.environment = TRY(script(run.job.environment_hash));
            TRY(each_(std::move(run)));
        }
        return {};
    }

    sql::Database& database_;
    const JobSelection& selection_;
    const JobFilter& filter_;
    const std::function<Result<void>(AccountedRun)>& each_;
    std::string cluster_;
};

}  // namespace

Result<std::vector<std::string>> known_clusters(sql::Database& database) {
    std::vector<std::string> clusters;
    TRY(database.query("SELECT cluster FROM sequences ORDER BY cluster", {},
                       [&](const sql::RowView& row) -> Result<void> {
                           clusters.emplace_back(row.text(0));
                           return {};
                       }));
    return clusters;
}

Result<void> find_jobs(sql::Database& database, const JobSelection& selection, Time now,
                       const std::function<Result<void>(AccountedRun)>& each) {
    const JobFilter filter = TRY(JobFilter::from(selection, now));
    const auto& wanted = selection.clusters;
    const bool all = wanted.empty() || std::find(wanted.begin(), wanted.end(), "*") != wanted.end();
    const std::vector<std::string> clusters = all ? TRY(known_clusters(database)) : wanted;
    for (const std::string& cluster : clusters) {
        TRY(JobQuery(database, selection, filter, each).run(cluster));
    }
    return {};
}

}  // namespace sluice::accounting
