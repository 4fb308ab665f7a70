#include "core/job/dependency.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/job/mail.h"
#include "core/job/verbs.h"
#include "core/schedule/waiting.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

enum class Verdict { Waiting, Fulfilled, Never };

// State of the job, task or array that a condition names.
struct Target {
    bool known = false;
    bool started = true;
    bool ended = true;
    bool well = true;  // all that have ended completed
    Time start;        // of the last one
};

void add(Target& target, const Job& job) {
    target.known = true;
    target.started = target.started && job.state != JobState::Pending;
    target.ended = target.ended && is_over(job);
    target.well = target.well && (!is_over(job) || job.state == JobState::Completed);
    if (job.run.start_time) target.start = std::max(target.start, *job.run.start_time);
}

// Any record of the array: all share the request, which lists the tasks that ever existed.
std::shared_ptr<const Job> any_of(const Cluster& cluster, JobId array) {
    if (auto record = cluster.find_job(array)) return record;
    const std::span<const JobId> tasks = cluster.arrays().tasks(array);
    return tasks.empty() ? nullptr : cluster.find_job(tasks.back());
}

bool has_task(const Job& of_array, std::uint32_t task) {
    return of_array.request->array && of_array.request->array->tasks.contains(task);
}

Target look_at_task(const Cluster& cluster, JobId array, std::uint32_t task) {
    Target target;
    auto record = cluster.find_job(array);
    if (record && is_array_record(*record) && record->array_tasks.contains(task))
        add(target, *record);
    if (target.known) return target;
    for (JobId id : cluster.arrays().tasks(array)) {
        const Job& job = cluster.job(id);
        if (job.array_task == task || job.array_tasks.contains(task)) add(target, job);
    }
    return target;
}

bool awaits_start(const Condition& condition) {
    return condition.kind == DependencyKind::After || condition.kind == DependencyKind::Expand;
}

// Looks first at the tasks that started last, which are most likely to run: that keeps the search
// short until the array has ended.
Target look_at_array(const Cluster& cluster, const Condition& condition) {
    Target target;
    auto record = cluster.find_job(condition.job);
    if (record && is_array_record(*record)) add(target, *record);
    const std::span<const JobId> tasks = cluster.arrays().tasks(condition.job);
    bool start_matters = awaits_start(condition);
    for (auto id = tasks.rbegin(); id != tasks.rend(); ++id) {
        add(target, cluster.job(*id));
        if (start_matters ? !target.started : !target.ended) break;
    }
    return target;
}

Target look_at(const Cluster& cluster, const Job& job, const Condition& condition) {
    bool by_task =
        condition.kind == DependencyKind::AfterCorr && condition.all_tasks && job.array_task;
    if (by_task) {
        auto array = any_of(cluster, condition.job);
        // Compat: a task that has no counterpart waits for the whole array.
        if (array && has_task(*array, *job.array_task)) {
            return look_at_task(cluster, condition.job, *job.array_task);
        }
    }
    if (condition.all_tasks) return look_at_array(cluster, condition);
    if (condition.task) return look_at_task(cluster, condition.job, *condition.task);
    Target target;
    if (auto found = cluster.find_job(condition.job)) add(target, *found);
    return target;
}

Verdict judge_start(Cluster& cluster, Time now, const Job& job, Condition& condition,
                    const Target& target) {
    if (!target.known) return Verdict::Fulfilled;
    if (!condition.due && target.started) {
        condition.due = target.start + condition.delay;
        cluster.add_timer({std::max(*condition.due, now), TimerKind::Dependency, job.id.value});
    }
    return condition.due && *condition.due <= now ? Verdict::Fulfilled : Verdict::Waiting;
}

Verdict judge(Cluster& cluster, Time now, const Job& job, Condition& condition,
              const Target& target) {
    bool well = target.well && !condition.seen_failure;
    auto when = [](bool fulfilled) { return fulfilled ? Verdict::Fulfilled : Verdict::Never; };
    switch (condition.kind) {
        case DependencyKind::Singleton:
            return may_run_alone(cluster, job) ? Verdict::Fulfilled : Verdict::Waiting;
        case DependencyKind::Expand:
            if (target.ended) return Verdict::Never;
            [[fallthrough]];
        case DependencyKind::After:
            return judge_start(cluster, now, job, condition, target);
        case DependencyKind::AfterAny:
        case DependencyKind::AfterBurstBuffer:
            break;
        case DependencyKind::AfterCorr:
        case DependencyKind::AfterOk:
            if (target.ended) return when(target.known && well);
            break;
        case DependencyKind::AfterNotOk:
            if (target.ended) return when(target.known && !well);
            break;
    }
    return target.ended ? Verdict::Fulfilled : Verdict::Waiting;
}

bool kills_invalid(const Cluster& cluster, const Job& job) {
    return job.request->kill_on_invalid_dep.value_or(cluster.settings().kill_invalid_depend);
}

// Stores the conditions left and acts on them. Jobs that end as a result are added to `ended`.
void conclude(Cluster& cluster, Time now, JobId id, Dependency left, std::vector<JobId>& ended,
              Effects& effects) {
    if (cluster.job(id).dependency != left) {
        const Edit<Job> job = cluster.edit_job(id);
        const bool is_news = left.never() && !job->dependency.never();
        job->dependency = std::move(left);
        if (is_news) mail(MailType::InvalidDepend, now, *job, effects);
        if (job->dependency.empty()) job->eligible_time = std::max(job->eligible_time, now);
    }
    const Job& job = cluster.job(id);
    bool kill = job.dependency.never() && kills_invalid(cluster, job);
    Reason reason =
        job.priority == 0 && !kill ? job.reason : reason_to_wait(job, now);  // a hold comes first
    const bool is_free = job.dependency.empty();
    if (job.reason != reason) cluster.edit_job(id)->reason = reason;
    if (kill) {
        end_pending(cluster, now, id, JobState::Cancelled, cluster.settings().slurm_user, effects);
        ended.push_back(id);
    } else if (is_free) {
        enqueue(cluster, cluster.job(id), now);
    }
}

// Evaluates the conditions again for which `concerned` is true.
template <typename Concerned>
void reconsider(Cluster& cluster, Time now, JobId id, Concerned concerned,
                std::vector<JobId>& ended, Effects& effects) {
    std::shared_ptr<const Job> job = cluster.find_job(id);
    Dependency left{.left = {}, .any = job->dependency.any};
    bool enough = false;
    for (Condition condition : job->dependency.left) {
        Verdict verdict = Verdict::Waiting;
        if (!condition.failed && concerned(condition)) {
            bool alone = condition.kind == DependencyKind::Singleton;
            Target target = alone ? Target{} : look_at(cluster, *job, condition);
            verdict = judge(cluster, now, *job, condition, target);
        }
        condition.failed = condition.failed || verdict == Verdict::Never;
        enough = enough || (left.any && verdict == Verdict::Fulfilled);
        if (verdict != Verdict::Fulfilled) left.left.push_back(condition);
    }
    if (enough || left.empty()) left = {};
    conclude(cluster, now, id, std::move(left), ended, effects);
}

bool is_by_task(const Job& job, const Condition& condition) {
    return condition.kind == DependencyKind::AfterCorr && condition.all_tasks &&
           is_array_record(job);
}

// aftercorr between arrays: tasks whose counterpart has ended are split off the array's record and
// evaluated separately. That may be all of them, if the counterparts were cancelled before any
// started.
void match_tasks(Cluster& cluster, Time now, JobId id, const Job& awaited,
                 std::vector<JobId>& ended, Effects& effects) {
    if (!is_over(awaited)) return;
    auto record = cluster.find_job(id);
    std::vector<std::uint32_t> tasks;
    if (awaited.array_task && record->array_tasks.contains(*awaited.array_task)) {
        tasks.push_back(*awaited.array_task);
    } else if (is_array_record(awaited)) {
        record->array_tasks.for_each([&](std::uint32_t task) {
            if (awaited.array_tasks.contains(task)) tasks.push_back(task);
        });
    }
    for (std::uint32_t task : tasks) {
        JobId split = split_task(cluster, id, task);
        // All conditions: others may have been fulfilled before this task had its own record.
        reconsider(
            cluster, now, split, [](const Condition&) { return true; }, ended, effects);
    }
}

bool waits_on(const Job& job, const AwaitedKey& key) {
    return job.state == JobState::Pending &&
           std::any_of(job.dependency.left.begin(), job.dependency.left.end(),
                       [&](const Condition& condition) {
                           return !condition.failed && awaited_key(condition) == key;
                       });
}

// Records that a task of an awaited array failed: the task's own record will be deleted.
void remember_failure(Cluster& cluster, JobId id, const Job& awaited, const AwaitedKey& key) {
    if (!is_over(awaited) || awaited.state == JobState::Completed) return;
    std::shared_ptr<const Job> job = cluster.find_job(id);
    for (std::size_t i = 0; i < job->dependency.left.size(); ++i) {
        const Condition& condition = job->dependency.left[i];
        if (!condition.all_tasks || condition.seen_failure || awaited_key(condition) != key)
            continue;
        if (condition.kind == DependencyKind::AfterCorr && job->array_job)
            continue;  // task by task
        cluster.edit_job(id)->dependency.left[i].seen_failure = true;
    }
}

void hear_of(Cluster& cluster, Time now, JobId id, const Job& awaited, const AwaitedKey& key,
             std::vector<JobId>& ended, Effects& effects) {
    remember_failure(cluster, id, awaited, key);
    std::shared_ptr<const Job> job = cluster.find_job(id);
    for (const Condition& condition : job->dependency.left) {
        if (awaited_key(condition) == key && is_by_task(*job, condition)) {
            match_tasks(cluster, now, id, awaited, ended, effects);
            break;
        }
    }
    if (cluster.job(id).state != JobState::Pending) return;
    auto concerned = [&](const Condition& condition) {
        if (awaited_key(condition) != key) return false;
        // With aftercorr a task waits only for its counterpart in the array.
        bool other_task = condition.kind == DependencyKind::AfterCorr && condition.all_tasks &&
                          job->array_task && awaited.array_task &&
                          *awaited.array_task != *job->array_task &&
                          has_task(awaited, *job->array_task);
        return !other_task;
    };
    reconsider(cluster, now, id, concerned, ended, effects);
}

std::vector<AwaitedKey> keys_of(const Cluster& cluster, const Job& job) {
    std::vector<AwaitedKey> keys{{job.id.value, kWholeJob}};
    if (!job.array_job) return keys;
    std::uint32_t array = job.array_job->value;
    if (array != job.id.value) keys.push_back({array, kWholeJob});
    if (job.array_task) {
        keys.push_back({array, *job.array_task});
        return keys;
    }
    for (const AwaitedKey& key :
         cluster.waiting().dependents().awaited_tasks(*job.array_job, job.array_tasks))
        keys.push_back(key);
    return keys;
}

template <typename Hear>
void for_each_dependent(Cluster& cluster, const Job& job, Hear hear) {
    Dependents& dependents = cluster.waiting().dependents();
    if (dependents.empty()) return;
    for (const AwaitedKey& key : keys_of(cluster, job)) {
        for (JobId id : dependents.take(key)) {
            auto dependent = cluster.find_job(id);
            if (!dependent || !waits_on(*dependent, key)) continue;
            hear(id, key);
            if (waits_on(cluster.job(id), key)) dependents.add(key, id);
        }
    }
}

// Whether any job that it waits for depends, directly or not, on `self`.
Result<bool> leads_to(const Cluster& cluster, const Dependency& dependency, JobId self) {
    std::set<JobId> seen;
    std::vector<JobId> ahead;
    std::size_t followed = 0;
    auto look_behind = [&](const Job& job, const Dependency& its) {
        for (const Condition& condition : its.left) {
            bool alone = condition.kind == DependencyKind::Singleton;
            JobRef ref{.job = condition.job, .tasks = {}, .het_component = {}, .step = {}};
            std::vector<JobId> awaited =
                alone ? earlier_of_name(cluster, job) : find_jobs(cluster, ref);
            ahead.insert(ahead.end(), awaited.begin(), awaited.end());
            followed += awaited.size() + 1;
        }
    };
    look_behind(*any_of(cluster, self), dependency);
    while (!ahead.empty()) {
        if (followed > sizes::kAwaitedCount) {
            return Error{ErrorCode::DependencyProblem,
                         fmt::format("more than {} jobs lead to it", sizes::kAwaitedCount)};
        }
        JobId id = ahead.back();
        ahead.pop_back();
        if (!seen.insert(id).second) continue;
        const Job& job = cluster.job(id);
        if (job.id == self || job.array_job == self) return true;
        if (job.state == JobState::Pending) look_behind(job, job.dependency);
    }
    return false;
}

}  // namespace

Reason reason_to_wait(const Job& job, Time now) {
    if (job.dependency.never()) return Reason::DependencyNeverSatisfied;
    if (!job.dependency.empty()) return Reason::Dependency;
    return job.eligible_time > now ? Reason::BeginTime : Reason::None;
}

Result<Dependency> resolve_dependency(const Cluster& cluster, std::string_view text, JobId self) {
    Dependency dependency = TRY(parse_dependency(text));
    Error problem{ErrorCode::DependencyProblem, fmt::format("--dependency={}", text)};
    for (Condition& condition : dependency.left) {
        if (condition.kind == DependencyKind::Singleton) continue;
        auto job = any_of(cluster, condition.job);
        // Compat: the plain id of an array means all its tasks.
        bool array = job && job->array_job == condition.job;
        if (array && !condition.task) condition.all_tasks = true;
        if (!array && (condition.all_tasks || condition.task)) job = nullptr;
        if (array && condition.task && !has_task(*job, *condition.task)) job = nullptr;
        bool must_be_known = condition.kind == DependencyKind::AfterOk ||
                             condition.kind == DependencyKind::AfterNotOk ||
                             condition.kind == DependencyKind::AfterCorr;
        bool forgotten =
            job && condition.task && !look_at_task(cluster, condition.job, *condition.task).known;
        if (must_be_known && (!job || forgotten)) {
            problem.hint = fmt::format("job {}{} is not known (any more)", condition.job.value,
                                       condition.task ? fmt::format("_{}", *condition.task) : "");
            return problem;
        }
        if (self.value != 0 && condition.job == self) {
            problem.hint = fmt::format("job {} cannot wait for itself", self.value);
            return problem;
        }
    }
    if (self.value != 0 && TRY(leads_to(cluster, dependency, self))) {
        return Error{ErrorCode::CircularDependency, fmt::format("--dependency={}", text)};
    }
    return dependency;
}

void watch_dependency(Cluster& cluster, const Job& job) {
    for (const Condition& condition : job.dependency.left) {
        if (condition.kind == DependencyKind::Singleton) {
            may_run_alone(cluster, job);
        } else if (!condition.failed) {
            cluster.waiting().dependents().add(awaited_key(condition), job.id);
        }
    }
}

void wait_for_others(Cluster& cluster, Time now, JobId id, Effects& effects) {
    std::vector<JobId> ended;
    const Dependency asked = cluster.job(id).dependency;
    for (const Condition& condition : asked.left) {
        if (!condition.all_tasks) continue;
        JobRef ref{.job = condition.job, .tasks = {}, .het_component = {}, .step = {}};
        for (JobId task : find_jobs(cluster, ref)) {
            remember_failure(cluster, id, cluster.job(task), awaited_key(condition));
        }
    }
    for (const Condition& condition : asked.left) {
        JobRef ref{.job = condition.job, .tasks = {}, .het_component = {}, .step = {}};
        for (JobId task : is_by_task(cluster.job(id), condition) ? find_jobs(cluster, ref)
                                                                 : std::vector<JobId>{}) {
            auto awaited = cluster.find_job(task);
            if (is_by_task(cluster.job(id), condition))
                match_tasks(cluster, now, id, *awaited, ended, effects);
        }
    }
    if (cluster.job(id).state == JobState::Pending) {
        reconsider(
            cluster, now, id, [](const Condition&) { return true; }, ended, effects);
    }
    if (cluster.job(id).state == JobState::Pending) watch_dependency(cluster, cluster.job(id));
    for (JobId over : ended) tell_of_end(cluster, now, over, effects);
}

void on_dependency_timer(Cluster& cluster, Time now, JobId id, Effects& effects) {
    auto job = cluster.find_job(id);
    if (!job || job->state != JobState::Pending) return;
    std::vector<JobId> ended;
    reconsider(
        cluster, now, id,
        [](const Condition& condition) {
            return condition.due || condition.kind == DependencyKind::Singleton;
        },
        ended, effects);
    for (JobId over : ended) tell_of_end(cluster, now, over, effects);
}

// A scheduling pass releases no jobs: a start only sets a timer, which releases them.
void tell_of_start(Cluster& cluster, Time now, JobId id) {
    job_is_here(cluster, cluster.job(id));
    std::shared_ptr<const Job> started = cluster.find_job(id);
    for_each_dependent(cluster, *started, [&](JobId dependent, const AwaitedKey& key) {
        std::shared_ptr<const Job> job = cluster.find_job(dependent);
        for (std::size_t i = 0; i < job->dependency.left.size(); ++i) {
            Condition condition = job->dependency.left[i];
            if (!awaits_start(condition) || condition.due || awaited_key(condition) != key)
                continue;
            judge_start(cluster, now, *job, condition, look_at(cluster, *job, condition));
            if (condition.due) cluster.edit_job(dependent)->dependency.left[i] = condition;
        }
    });
}

void tell_of_end(Cluster& cluster, Time now, JobId id, Effects& effects) {
    std::vector<JobId> ended{id};
    while (!ended.empty()) {
        std::shared_ptr<const Job> job = cluster.find_job(ended.back());
        ended.pop_back();
        for_each_dependent(cluster, *job, [&](JobId dependent, const AwaitedKey& key) {
            hear_of(cluster, now, dependent, *job, key, ended, effects);
        });
        for (JobId next : job_is_gone(cluster, *job)) {
            if (cluster.job(next).state != JobState::Pending) continue;
            reconsider(
                cluster, now, next,
                [](const Condition& condition) {
                    return condition.kind == DependencyKind::Singleton;
                },
                ended, effects);
        }
    }
}

void restore_dependencies(Cluster& cluster, Time now) {
    std::vector<JobId> waiting;
    cluster.jobs().for_each([&](const Job& job) {
        if (job.state == JobState::Pending && !job.dependency.empty()) waiting.push_back(job.id);
    });
    for (JobId id : waiting) {
        watch_dependency(cluster, cluster.job(id));
        for (const Condition& condition : cluster.job(id).dependency.left) {
            bool alone = condition.kind == DependencyKind::Singleton;
            if (condition.due || alone) {
                cluster.add_timer({condition.due.value_or(now), TimerKind::Dependency, id.value});
            }
        }
    }
}

}  // namespace sluice
