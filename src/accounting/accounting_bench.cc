// accounting/accounting_bench.cc
//
// What questions cost with a million finished jobs of 500 users in a year. Run with another number
// of jobs: ACCOUNTING_BENCH_JOBS=10000; with a server: ACCOUNTING_BENCH_ENGINE=PostgreSQL or
// MariaDB. The database is made once, in a private directory.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>

#include "accounting/accounting.h"
#include "base/check.h"
#include "sql/testing.h"

namespace sluice {
namespace {

constexpr Time kStart = from_unix(1'735'689'600);  // 2025-01-01
constexpr Seconds kYear{365 * 86400};
constexpr std::uint32_t kUsers = 500;

std::uint32_t job_count() {
    const char* text = std::getenv("ACCOUNTING_BENCH_JOBS");
    return text ? static_cast<std::uint32_t>(std::atoi(text)) : 1'000'000;
}

AccountedJob job(std::uint32_t number) {
    AccountedJob job;
    job.job = JobId{number + 1};
    job.user = UserId{1000 + number % kUsers};
    job.group = GroupId{100};
    job.account = fmt::format("account{}", number % 50);
    job.association = 1 + number % kUsers;
    job.qos = "normal";
    job.partition = number % 3 == 0 ? "short" : "long";
    job.name = "simulation";
    job.state = ShownState::Completed;
    job.submit = job.eligible = kStart + kYear * number / job_count();
    job.start = job.submit + Seconds(number % 600);
    job.end = *job.start + Seconds(60 + number * 7919 % 7200);
    job.tres_requested = job.tres_allocated = {
        {"cpu", 4}, {"mem", 4096}, {"node", 1}, {"billing", 4}, {"gres/gpu", 1}};
    job.node_names = fmt::format("n{:04}", number % 1000);
    job.node_count = 1;
    job.work_dir = "/home/user/project/run";
    job.submit_line = "sbatch --gres=gpu:1 --cpus-per-task=4 --mem=4G job.sh";
    return job;
}

AccountedStep step(const AccountedJob& job) {
    AccountedStep step;
    step.job = job.job;
    step.step = kBatchStep;
    step.name = "batch";
    step.state = ShownState::Completed;
    step.start = *job.start;
    step.end = job.end;
    step.tasks = 1;
    return step;
}

sql::Target target() {
    const char* text = std::getenv("ACCOUNTING_BENCH_ENGINE");
    for (const sql::Engine engine : {sql::Engine::Postgresql, sql::Engine::Mariadb}) {
        if (text && text == sql::engine_name(engine))
            return sql::testing_sql::PrivateServer::of(engine).target();
    }
    return sql::testing_sql::PrivateServer::of(sql::Engine::Sqlite).target();
}

std::unique_ptr<Accounting> fill() {
    sql::Target where = target();
    where.timeout = std::chrono::seconds(600);
    std::unique_ptr<Accounting> accounting = open_accounting(where).value();
    std::uint64_t sequence = 0;
    const AccountedEvent size{
        .start = kStart,
        .tres = {{"cpu", 64'000}, {"mem", 512'000'000}, {"node", 1000}, {"gres/gpu", 8000}}};
    std::vector<NumberedFact> facts(1, {++sequence, size});
    for (std::uint32_t i = 0; i < job_count(); ++i) {
        const AccountedJob made = job(i);
        facts.push_back({++sequence, made});
        facts.push_back({++sequence, step(made)});
        if (facts.size() < 20'000 && i + 1 < job_count()) continue;
        CHECK(accounting->apply("c", facts).has_value());
        facts.clear();
    }
    CHECK(accounting->roll_up("c", kStart + kYear).has_value());
    return accounting;
}

Accounting& filled() {
    static const std::unique_ptr<Accounting> accounting = fill();
    return *accounting;
}

void count_jobs(benchmark::State& state, const JobSelection& selection) {
    Accounting& accounting = filled();
    std::uint64_t found = 0;
    for (auto _ : state) {
        found = 0;
        CHECK(accounting
                  .jobs(selection, kStart + kYear,
                        [&](const AccountedRun&) -> Result<void> {
                            ++found;
                            return {};
                        })
                  .has_value());
    }
    state.counters["jobs"] = static_cast<double>(found);
}

// sacct -X of one user and day, in the middle of the year.
void user_and_day(benchmark::State& state) {
    const Time day = kStart + Seconds(86400 * 180);
    count_jobs(state, {.clusters = {"c"},
                       .users = {UserId{1007}},
                       .start = day,
                       .end = day + Seconds(86400),
                       .no_steps = true});
}
BENCHMARK(user_and_day)->Unit(benchmark::kMillisecond);

// sacct -a of one day: all users, with steps.
void all_users_and_day(benchmark::State& state) {
    const Time day = kStart + Seconds(86400 * 180);
    count_jobs(state, {.clusters = {"c"}, .start = day, .end = day + Seconds(86400)});
}
BENCHMARK(all_users_and_day)->Unit(benchmark::kMillisecond);

// sacct -j of one job.
void one_job(benchmark::State& state) {
    count_jobs(state, {.clusters = {"c"}, .jobs = {std::to_string(job_count() / 2)}});
}
BENCHMARK(one_job)->Unit(benchmark::kMillisecond);

// sreport cluster Utilization of a month: by hour, the most rows that it can ask for.
void cluster_usage_of_a_month(benchmark::State& state) {
    Accounting& accounting = filled();
    const UsageQuestion question{"c", RollupPeriod::Hour, kStart + Seconds(86400 * 151),
                                 kStart + Seconds(86400 * 181)};
    for (auto _ : state) CHECK(accounting.cluster_usage(question).has_value());
}
BENCHMARK(cluster_usage_of_a_month)->Unit(benchmark::kMillisecond);

// One more hour, with a job that ended in it.
void hourly_roll_up(benchmark::State& state) {
    Accounting& accounting = filled();
    static Time now = kStart + kYear;
    static std::uint64_t sequence = accounting.last_applied("c").value();
    static std::uint32_t number = job_count();
    for (auto _ : state) {
        state.PauseTiming();
        AccountedJob next = job(number++);
        next.submit = next.eligible = next.start.emplace(now);
        next.end = now + Seconds(600);
        CHECK(accounting.apply("c", {{++sequence, next}}).has_value());
        now += Seconds(3600);
        state.ResumeTiming();
        CHECK(accounting.roll_up("c", now).has_value());
    }
}
BENCHMARK(hourly_roll_up)->Unit(benchmark::kMillisecond)->Iterations(100);

// An end that is reported a day late: 25 hours are computed again.
void late_fact(benchmark::State& state) {
    Accounting& accounting = filled();
    std::uint64_t sequence = accounting.last_applied("c").value();
    bool is_longer = false;
    const Time now = kStart + kYear;
    for (auto _ : state) {
        state.PauseTiming();
        AccountedJob late = job(job_count() - 3000);
        late.end = now - Seconds(86400) + Seconds(is_longer ? 60 : 0);
        is_longer = !is_longer;
        CHECK(accounting.apply("c", {{++sequence, late}}).has_value());
        state.ResumeTiming();
        CHECK(accounting.roll_up("c", now).has_value());
    }
}
BENCHMARK(late_fact)->Unit(benchmark::kMillisecond)->Iterations(10);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
