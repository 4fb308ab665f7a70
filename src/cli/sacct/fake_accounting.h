// cli/sacct/fake_accounting.h
//
// For tests: a cluster with an accounting database that answers from a few facts. The jobs are
// those of a real cluster whose output was recorded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/squeue/fake_cluster.h"
#include "model/accounting_question.h"
#include "model/policy_fields.h"
#include "protocol/field_codec.h"

namespace sluice {

constexpr std::int64_t kAccountedStart = 1794981771;      // 2026-11-18T06:02:51 UTC
constexpr std::int64_t kAccountedNow = 1794981862;        // 91 s later
constexpr std::int64_t kAccountedYesterday = 1794873600;  // 2026-11-17T00:00:00 UTC

inline Time accounted_time(std::int64_t seconds_after_start) {
    return from_unix(kAccountedStart + seconds_after_start);
}

inline AccountedStep fake_step(StepId id, std::string name, ShownState state, int length) {
    AccountedStep step;
    step.step = id;
    step.name = std::move(name);
    step.state = state;
    step.start = accounted_time(0);
    if (length >= 0) step.end = accounted_time(length);
    step.tasks = step.cpus = step.node_count = 1;
    step.node_names = "cpu1";
    step.tres_allocated = {{"cpu", 1}, {"mem", 50}, {"node", 1}};
    step.usage.cpu_user = Microseconds{3000};
    step.usage.cpu_system = Microseconds{1500};
    return step;
}

// `length`: of the run; negative: it has not ended.
inline AccountedRun fake_run(std::uint32_t id, std::string name, ShownState state, int length) {
    AccountedRun run;
    run.cluster = "oracle";
    AccountedJob& job = run.job;
    job.job = JobId{id};
    job.sluid = 1000 + id;
    job.name = std::move(name);
    job.account = "vision";
    job.association = 6;
    job.qos = "normal";
    job.partition = "short";
    job.state = state;
    job.submit = job.eligible = job.start.emplace(accounted_time(0));
    if (length >= 0) job.end = accounted_time(length);
    job.time_limit = TimeLimit{Seconds{3600}};
    job.priority = 10700;
    job.cpus_requested = job.nodes_requested = job.node_count = 1;
    job.tres_requested = {{"cpu", 1}, {"mem", 50}, {"node", 1}, {"billing", 1}};
    job.tres_allocated = job.tres_requested;
    job.memory_per_node = 50;
    job.node_names = "cpu1";
    job.flags = kStartedByBackfill | kStartReceived;
    job.is_batch = true;
    job.work_dir = "/tmp";
    job.std_out = "/tmp/slurm-%j.out";
    job.submit_line = "sbatch job.sh";
    run.script = "#!/bin/bash\necho " + job.name + "\n";
    run.steps = {fake_step(kBatchStep, "batch", state, length)};
    return run;
}

inline AccountedRun waiting(AccountedRun run, Reason reason) {
    AccountedJob& job = run.job;
    job.state = ShownState::Pending;
    job.reason = reason;
    job.start = job.end = {};
    job.node_names.clear();
    job.node_count = 0;
    job.tres_allocated.clear();
    job.flags = kStartReceived;
    run.steps.clear();
    return run;
}

inline void add_fake_ends(std::vector<AccountedRun>& runs) {
    AccountedRun ok = fake_run(2, "acct-ok", ShownState::Failed, 1);
    ok.job.exit = {.code = 1};
    ok.job.derived_exit = {.code = 1};
    ok.job.tres_allocated = {{"cpu", 2}, {"mem", 200}, {"node", 1}, {"billing", 2}};
    ok.job.cpus_requested = 2;
    ok.job.tres_requested = ok.job.tres_allocated;
    ok.steps[0].exit = {.code = 1};
    ok.steps[0].cpus = 2;
    AccountedStep first = fake_step(StepId{0}, "sleep", ShownState::Completed, 1);
    first.cpus = first.tasks = 2;
    first.layout = "Block";
    first.submit_line = "srun sleep 1";
    AccountedStep second = fake_step(StepId{1}, "false", ShownState::Failed, 1);
    second.exit = {.code = 1};
    second.layout = "Cyclic";
    ok.steps.insert(ok.steps.end(), {first, second});
    AccountedRun cancelled = fake_run(4, "acct-cancel", ShownState::Cancelled, 15);
    cancelled.job.killed_by = UserId{0};
    cancelled.job.time_limit = TimeLimit{Seconds{600}};
    cancelled.job.tres_allocated = {{"cpu", 1},     {"mem", 100},    {"node", 1},
                                    {"billing", 1}, {"gres/gpu", 2}, {"gres/gpu:a40", 2}};
    cancelled.job.tres_requested = cancelled.job.tres_allocated;
    cancelled.job.node_names = "gpua1";
    cancelled.steps[0].exit = {.signal = 15};
    TaskUsage usage;
    usage.tasks = 1;
    usage.rss_kb = {.total = 3044, .most = 3044, .most_node = "gpua1", .least = 3044};
    cancelled.steps[0].usage.tasks = std::make_shared<const TaskUsage>(usage);
    AccountedRun failed = fake_run(5, "acct-fail", ShownState::Failed, 0);
    failed.job.exit = failed.steps[0].exit = {.code = 3};
    failed.job.comment = "hello there";
    AccountedRun killed = fake_run(8, "acct-sig", ShownState::Failed, 0);
    killed.job.exit = killed.steps[0].exit = {.signal = 9};
    AccountedRun memory = fake_run(20, "acct-oom", ShownState::OutOfMemory, 60);
    memory.job.exit = memory.steps[0].exit = {.oom_killed = true};
    runs.insert(runs.end(), {ok, cancelled, failed, killed, memory});
}

inline void add_fake_live(std::vector<AccountedRun>& runs) {
    AccountedRun later = waiting(fake_run(6, "acct-pend", {}, -1), Reason::BeginTime);
    later.job.eligible = accounted_time(172800);
    AccountedRun held = waiting(fake_run(7, "acct-hold", {}, -1), Reason::JobHeldUser);
    held.job.eligible = Time{};
    held.job.priority = 0;
    held.job.array_job = JobId{7};
    held.job.array_tasks = *TaskSet::parse("1-9");
    held.job.array_limit = 3;
    AccountedRun suspended = fake_run(9, "acct-two", ShownState::Suspended, -1);
    suspended.job.suspend_time = accounted_time(15);
    suspended.job.partition = "long";
    suspended.job.tres_allocated = {{"cpu", 4}, {"mem", 200}, {"node", 2}, {"billing", 4}};
    suspended.job.node_names = "cpu[1-2]";
    suspended.job.node_count = 2;
    suspended.steps[0].state = ShownState::Running;
    AccountedRun requeued = fake_run(10, "acct-requeue", ShownState::Requeued, 15);
    requeued.steps[0].state = ShownState::Cancelled;
    AccountedRun again = waiting(fake_run(10, "acct-requeue", {}, -1), Reason::BeginTime);
    again.job.restarts = 1;
    again.job.sluid = 2010;
    again.job.submit = accounted_time(15);
    again.job.eligible = accounted_time(136);
    AccountedRun task = fake_run(11, "acct-arr", ShownState::Completed, 2);
    task.job.array_job = JobId{3};
    task.job.array_task = 1;
    task.job.std_out = "/tmp/arr_%A_%a.out";
    runs.insert(runs.end(), {later, held, suspended, requeued, again, task});
}

inline Association fake_association(std::uint32_t id, std::uint32_t parent, std::string account,
                                    std::string user = "") {
    Association made;
    made.id = id;
    made.parent = parent;
    made.cluster = "oracle";
    made.account = std::move(account);
    made.user = std::move(user);
    made.is_default = !made.user.empty();
    return made;
}

inline Policy fake_policy() {
    Policy policy;
    Qos normal;
    normal.id = 1;
    normal.name = "normal";
    Qos high = normal;
    high.id = 2;
    high.name = "high";
    policy.qos = {normal, high};
    policy.associations = {
        fake_association(1, 0, "root"),   fake_association(2, 1, "root", "daemon"),
        fake_association(3, 1, "vision"), fake_association(6, 3, "vision", "root"),
        fake_association(4, 1, "nlp"),    fake_association(7, 4, "nlp", "nobody")};
    policy.associations[2].of_all.tres = {{"gres/gpu", 8}};
    Wckey wckey;
    wckey.id = 9;
    wckey.name = "paper";
    wckey.cluster = "oracle";
    wckey.user = "root";
    policy.wckeys = {wckey};
    policy.tres = {{1, "cpu"}, {2, "mem"}, {3, "energy"}, {4, "node"}, {5, "billing"}};
    policy.tres.push_back({1001, "gres/gpu"});
    ClusterRecord cluster;
    cluster.name = "oracle";
    policy.clusters = {cluster};
    return policy;
}

class FakeAccounting : public FakeCluster {
public:
    FakeAccounting() {
        add_fake_ends(runs);
        add_fake_live(runs);
        using C = JobColumn;
        jobs[0].set(C::AllocTres, "cpu=4,mem=4G,node=1,billing=4,gres/gpu=2,gres/gpu:a40=2");
        jobs[3].set(C::ReqTres, "cpu=2,mem=2000M,node=1,billing=2,gres/gpu=1");
        jobs[3].set(C::Account, "vision");
        jobs[4].set(C::AllocTres, "cpu=32,mem=32000M,node=2,billing=32,gres/gpu=8,gres/gpu:a40=8");
        jobs[4].set(C::Account, "overcap");
        jobs[7].set(C::ReqTres, "cpu=1,gres/gpu=2,gres/gpu:h100=2").set(C::Account, "nlp");
    }

    Result<wire::Reply> call(const wire::Request& request, const Waiting& waiting = {}) override {
        if (request.body_case() != wire::Request::kAskAccounting || down) {
            return FakeCluster::call(request, waiting);
        }
        AccountingQuestion question;
        TRY(field_codec::get_fields(request.ask_accounting(), question));
        questions.push_back(question);
        wire::Reply reply;
        reply.mutable_rows();
        answer(question, *reply.mutable_rows());
        return reply;
    }

    std::vector<AccountedRun> runs;
    std::vector<AccountingQuestion> questions;

private:
    template <typename Row>
    static void add(const Row& row, wire::Rows& rows) {
        field_codec::put_fields(row, *rows.add_rows());
    }

    static bool names(const std::string& word, const AccountedJob& job) {
        const Result<JobRef> ref = parse_job_ref(word);
        if (!ref) return false;
        if (ref->job == job.job && !ref->tasks) return true;
        return job.array_job == ref->job &&
               (!ref->tasks || (job.array_task && ref->tasks->contains(*job.array_task)));
    }

    void answer_jobs(const JobSelection& selection, wire::Rows& rows) const {
        for (const AccountedRun& run : runs) {
            const bool is_last =
                std::none_of(runs.begin(), runs.end(), [&](const AccountedRun& each) {
                    return each.job.job == run.job.job && each.job.restarts > run.job.restarts;
                });
            const bool is_named =
                selection.jobs.empty() ||
                std::any_of(selection.jobs.begin(), selection.jobs.end(),
                            [&](const std::string& word) { return names(word, run.job); });
            if (!is_named || (!selection.all_runs && !is_last)) continue;
            AccountedRun sent = run;
            if (selection.no_steps) sent.steps.clear();
            if (!selection.scripts) sent.script.clear();
            add(sent, rows);
        }
    }

    // An hour's usage in each hour of today, a day's on yesterday.
    static void answer_usage(const AccountingQuestion& question, wire::Rows& rows) {
        const bool is_day = question.period == RollupPeriod::Day;
        if (question.period == RollupPeriod::Month) return;
        const Time start = from_unix(kAccountedYesterday + (is_day ? 0 : 86400));
        if (question.start > start || question.end <= start) return;
        const std::uint64_t length = is_day ? 86400 : 3600;
        if (question.kind == AccountingQuestion::Kind::ClusterUsage) {
            for (const char* tres : {"cpu", "mem"}) {
                const std::uint64_t count = tres[0] == 'c' ? 96 : 60000;
                ClusterUsageRow row{start, tres, count, count * length / 4, count * length / 8};
                row.planned = count * length / 8;
                row.idle = count * length / 2;
                row.over = 60;
                add(row, rows);
            }
            return;
        }
        if (question.kind == AccountingQuestion::Kind::WckeyUsage) {
            return add(UsageRow{start, 9, "cpu", length}, rows);
        }
        add(UsageRow{start, 6, "cpu", 12 * length}, rows);
        add(UsageRow{start, 6, "mem", 1000 * length}, rows);
        add(UsageRow{start, 7, "cpu", 20 * length}, rows);
    }

    void answer(const AccountingQuestion& question, wire::Rows& rows) const {
        using Kind = AccountingQuestion::Kind;
        switch (question.kind) {
            case Kind::Jobs:
                return answer_jobs(question.jobs, rows);
            case Kind::Policy:
                return add(fake_policy(), rows);
            case Kind::Reservations: {
                AccountedReservation reservation;
                reservation.id = 1;
                reservation.name = "course";
                reservation.start = accounted_time(0);
                reservation.end = accounted_time(60);
                reservation.node_names = "cpu1";
                reservation.tres = {{"cpu", 16}};
                return add(reservation, rows);
            }
            case Kind::Usage:
            case Kind::WckeyUsage:
            case Kind::ClusterUsage:
                return answer_usage(question, rows);
            default:
                return;
        }
    }
};

}  // namespace sluice
