// See rules.h.
#include "sim/faults/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/limits/allowance.h"
#include "core/limits/licenses.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/limits/usage.h"
#include "core/query/columns_of.h"
#include "core/schedule/waiting.h"
#include "sim/faults/machine.h"

namespace sluice {

namespace {

bool holds_nodes(const Job& job) {
    return is_live(job) || is_completing(job);
}

std::uint32_t tasks_at_once(const Cluster& cluster, JobId array) {
    std::uint32_t count = 0;
    cluster.jobs().for_each([&](const Job& job) {
        if (job.array_job == array && holds_nodes(job)) ++count;
    });
    return count;
}

std::optional<std::string> partition_broken(const Cluster& cluster, const Job& job) {
    const Partition* partition = cluster.find_partition(job.partition);
    if (!partition) return "a partition that is not there";
    const PartitionConfig& config = partition->config;
    if (config.state == PartitionState::Down || config.state == PartitionState::Inactive)
        return "a partition that is down";
    if (job.time_limit > config.max_time) return "for longer than its partition allows";
    auto nodes = static_cast<std::uint32_t>(job.run.allocation->nodes.size());
    if (config.max_nodes && nodes > *config.max_nodes)
        return "on more nodes than its partition allows";
    for (const NodeShare& share : job.run.allocation->nodes) {
        const auto& members = partition->nodes;
        if (std::find(members.begin(), members.end(), share.node) == members.end()) {
            return "on a node outside its partition";
        }
        if (!may_take_jobs(cluster.node(share.node))) return "on a node that takes no jobs";
    }
    return {};
}

bool meets(const Reservation& reservation, Time from, Time until) {
    std::vector<Interval> times = intervals_of(reservation);
    return std::any_of(times.begin(), times.end(),
                       [&](const Interval& time) { return time.start < until && from < time.end; });
}

bool has_all_of(const Reservation& reservation, NodeIndex node) {
    return reservation.cores.empty() && reservation.has_node(node);
}

std::optional<std::string> reservation_broken(const Cluster& cluster, const Job& job, Time now) {
    const Reservation* own = find_reservation(cluster, job.run.reservation);
    if (!job.run.reservation.empty()) {
        if (!own || !may_use(*own, job.user, *job.request))
            return "in a reservation that is not for it";
        if (!is_open(*own, now)) return "in a reservation that has not begun";
    } else if (!job.request->reservation.empty()) {
        return "outside the reservation it asked for";
    }
    constexpr Seconds kEver{100L * 365 * 24 * 3600};
    Time until = now + (job.time_limit.unlimited() ? kEver : job.time_limit.length());
    if (own && !own->has(kResvFlex)) until = std::min(until, own->end);
    for (const NodeShare& share : job.run.allocation->nodes) {
        bool inside = own && own->has_node(share.node);
        if (own && !inside && !own->has(kResvFlex | kResvAnyNodes))
            return "on a node outside its reservation";
        for (const Reservation& other : cluster.reservations()) {
            if (&other == own || !has_all_of(other, share.node) || !meets(other, now, until))
                continue;
            if (inside && !other.has(kResvMaint)) continue;
            return fmt::format(
                "on node {}, which is reserved for others by {} from {} ({:x}; in '{}', until {})",
                cluster.node(share.node).config.name, other.name, (other.start - now).count(),
                other.flags, job.run.reservation, (until - now).count());
        }
    }
    return {};
}

std::optional<std::string> licenses_broken(const Cluster& cluster, const Job& job) {
    for (const LicenseCount& held : licenses_held_by(job)) {
        for (const auto& [name, total] : cluster.settings().licenses) {
            if (name == held.name && cluster.licenses().of(name) > total)
                return "with more licences than there are";
        }
    }
    if (job.run.licenses_held.empty() && !job.request->licenses.empty())
        return "without its licences";
    return {};
}

bool is_below(const AssociationTree& tree, const Association& one, std::uint32_t above) {
    const std::vector<const Association*> path = tree.path(one.id);
    return std::any_of(path.begin(), path.end(),
                       [&](const Association* each) { return each->id == above; });
}

// Adds up what jobs of the association and those below it hold when `starting` starts. A job whose
// QOS has the same limit is not bound by this one, and may have started after the others: it is
// left out.
std::uint64_t held_below(const Cluster& cluster, const Job& starting, std::uint32_t association,
                         const std::function<bool(const Qos&)>& replaces,
                         const std::function<std::uint64_t(const Job&)>& amount) {
    const AssociationTree& tree = cluster.associations();
    std::uint64_t sum = 0;
    if (replaces(*find_qos(cluster, starting.request->qos))) return 0;
    cluster.jobs().for_each([&](const Job& job) {
        const Association* own = holds_nodes(job) ? association_of(cluster, job) : nullptr;
        if (!own || !is_below(tree, *own, association)) return;
        if (!replaces(*find_qos(cluster, job.request->qos))) sum += amount(job);
    });
    return sum;
}

// The same for the associations of the job.
std::optional<std::string> association_limits_broken(const Cluster& cluster, const Job& job) {
    const AssociationTree& tree = cluster.associations();
    const Association* own = association_of(cluster, job);
    if (!own) return {};
    const auto one = [](const Job&) { return std::uint64_t{1}; };
    for (const Association* each : tree.path(own->id)) {
        const std::uint32_t most_running = each->of_all.running.value_or(kNoLimit);
        const std::uint64_t running = held_below(
            cluster, job, each->id, [](const Qos& qos) { return qos.of_all.running.has_value(); },
            one);
        if (running > most_running)
            return fmt::format("with {} jobs of {}, which may have {}", running, holder_name(*each),
                               most_running);
        const auto most_cpus = each->of_all.tres.find("cpu");
        if (most_cpus == each->of_all.tres.end()) continue;
        const std::uint64_t cpus = held_below(
            cluster, job, each->id, [](const Qos& qos) { return qos.of_all.tres.contains("cpu"); },
            [](const Job& other) { return other.run.allocation->cpus(); });
        if (cpus > most_cpus->second)
            return fmt::format("with {} CPUs of {}, which may have {}", cpus, holder_name(*each),
                               most_cpus->second);
    }
    const std::uint32_t most_each = tree.terms(own->id).of_each.running.value_or(kNoLimit);
    const std::uint64_t running = held_below(
        cluster, job, own->id, [](const Qos& qos) { return qos.of_user.running.has_value(); }, one);
    if (running <= most_each) return {};
    return fmt::format("with {} jobs of {}, each of which may have {}", running, holder_name(*own),
                       most_each);
}

// Counts all jobs that hold nodes, independently of the counters of the core.
std::optional<std::string> limits_broken(const Cluster& cluster, const Job& job) {
    const Qos* qos =
        cluster.settings().enforce_limits ? find_qos(cluster, job.request->qos) : nullptr;
    if (!qos) return {};
    LimitUse all, of_user;
    cluster.jobs().for_each([&](const Job& other) {
        if (other.request->qos != qos->name || !holds_nodes(other)) return;
        ++all.running;
        if (other.user == job.user) ++of_user.running;
        for (const auto& [name, amount] : tres_of(*other.run.allocation)) all.tres[name] += amount;
    });
    for (const auto& [name, most] : qos->of_all.tres) {
        if (all.tres[name] > most)
            return fmt::format("with {} {} in its QOS, which may have {}", all.tres[name], name,
                               most);
    }
    if (all.running > qos->of_all.running.value_or(kNoLimit))
        return "with more jobs than its QOS may have";
    if (of_user.running > qos->of_user.running.value_or(kNoLimit))
        return "with more jobs than its user may have";
    return association_limits_broken(cluster, job);
}

// The tasks that an array ever had; one of no number for a job that is no array.
std::vector<std::uint32_t> tasks_of(const Cluster& cluster, JobId id) {
    auto record = cluster.find_job(id);
    const std::span<const JobId> split = cluster.arrays().tasks(id);
    if (!record && !split.empty()) record = cluster.find_job(split.front());
    if (!record) return {};
    std::vector<std::uint32_t> tasks;
    if (!record->array_job || !record->request->array) return {kWholeJob};
    record->request->array->tasks.for_each([&](std::uint32_t task) { tasks.push_back(task); });
    return tasks;
}

// A run that ended before the task was split off (a waiting array is cancelled and requeued) is
// told by the record of the array.
const AccountedJob* told_run(const Job& job, std::uint32_t restarts, const Rows& rows) {
    if (const AccountedJob* own = rows.run(job.id, restarts)) return own;
    if (!job.array_job || !job.array_task || restarts == job.run.restarts) return nullptr;
    const AccountedJob* whole = rows.run(*job.array_job, restarts);
    return whole && whole->array_tasks.contains(*job.array_task) ? whole : nullptr;
}

// Accounting knows how each earlier run ended, and the current one as it is.
std::optional<std::string> runs_broken(const Job& job, const Rows& rows) {
    for (std::uint32_t i = 0; i <= job.run.restarts; ++i) {
        const AccountedJob* run = told_run(job, i, rows);
        if (!run) return fmt::format("has no fact of run {}", i);
        const bool must_have_ended = i < job.run.restarts || is_over(job);
        if (must_have_ended && !run->end) return fmt::format("run {} has no end", i);
        if (must_have_ended && (run->state == ShownState::Running))
            return fmt::format("run {} has ended and is accounted as running", i);
        const AccountedStep* batch = rows.step({job.id, i, kBatchStep});
        if (batch && !counts_nodes_once(batch->usage))
            return fmt::format("run {} counts a node twice in what it used", i);
        if (i < job.run.restarts) continue;
        if (run->start.has_value() != job.run.start_time.has_value() ||
            run->end.has_value() != job.run.end_time.has_value())
            return "is accounted with another start or end";
        if (batch && batch->usage != job.run.usage) return "is accounted with another usage";
    }
    return {};
}

std::optional<std::string> steps_broken(const Job& job, const Rows& rows) {
    for (const auto& step : job.run.steps) {
        const AccountedStep* row = rows.step({job.id, job.run.restarts, step->id});
        if (!row) return fmt::format("step {} has no fact", step->id.value);
        if (step->state == StepState::Running) continue;
        if (!row->end) return fmt::format("step {} has no end for accounting", step->id.value);
        if (row->usage != step->usage)
            return fmt::format("step {} has used something else for accounting", step->id.value);
        if (!counts_nodes_once(step->usage))
            return fmt::format("step {} counts a node twice in what it used", step->id.value);
    }
    return {};
}

}  // namespace

const Rules::History& Rules::history(const AwaitedKey& key) const {
    static const History kNone;
    auto found = histories_.find(key);
    return found == histories_.end() ? kNone : found->second;
}

// Others of that name may start beside it, in the same pass too, unless they are singletons as
// well.
bool Rules::is_alone(const Cluster& cluster, const Job& job) const {
    JobId self = job.array_job.value_or(job.id);
    bool alone = true;
    cluster.jobs().for_each([&](const Job& other) {
        bool same = other.user == job.user && other.details->name() == job.details->name();
        if (!same || !holds_nodes(other) || other.array_job.value_or(other.id) == self) return;
        bool was_first = running_.contains({other.id.value, other.run.restarts});
        if (was_first || other.details->dependency() == "singleton") alone = false;
    });
    return alone;
}

void Rules::note(const Cluster& cluster) {
    cluster.jobs().for_each([&](const Job& job) {
        if (job.state == JobState::Pending) return;
        auto note_task = [&](std::uint32_t task) {
            History& history = histories_[{job.array_job.value_or(job.id).value, task}];
            history.started = true;
            if (is_over(job)) history.ends.insert(job.state);
        };
        if (is_array_record(job))
            job.array_tasks.for_each(note_task);
        else
            note_task(job.array_task.value_or(kWholeJob));
    });
}

void Rules::note_queue(const Cluster& cluster) {
    running_.clear();
    held_.clear();
    cluster.jobs().for_each([&](const Job& job) {
        if (holds_nodes(job)) running_.emplace(job.id.value, job.run.restarts);
        if (job.state != JobState::Pending || job.priority > 0) return;
        auto hold = [&](std::uint32_t task) {
            held_.emplace(job.array_job.value_or(job.id).value, task);
        };
        if (is_array_record(job))
            job.array_tasks.for_each(hold);
        else
            hold(job.array_task.value_or(kWholeJob));
    });
}

// Whether it was fulfilled at some time; what is forgotten is.
bool Rules::holds(const Cluster& cluster, const Job& job, const Condition& condition) const {
    if (condition.kind == DependencyKind::Singleton) return is_alone(cluster, job);
    std::vector<std::uint32_t> tasks = tasks_of(cluster, condition.job);
    if (condition.task) tasks = {*condition.task};
    bool counterpart = condition.kind == DependencyKind::AfterCorr && job.array_task &&
                       std::find(tasks.begin(), tasks.end(), *job.array_task) != tasks.end();
    if (counterpart) tasks = {*job.array_task};
    bool one_failed = false;
    for (std::uint32_t task : tasks) {
        const History& past = history({condition.job.value, task});
        bool completed = past.ends.contains(JobState::Completed);
        one_failed = one_failed || (past.ends.size() > (completed ? 1u : 0u));
        if (condition.kind == DependencyKind::After ? !past.started : past.ends.empty())
            return false;
        bool must = condition.kind == DependencyKind::AfterOk ||
                    condition.kind == DependencyKind::AfterCorr;
        if (must && !completed) return false;
    }
    return condition.kind != DependencyKind::AfterNotOk || one_failed || tasks.empty();
}

std::optional<std::string> Rules::broken_by_start(const Cluster& cluster, Time now) const {
    std::optional<std::string> broken;
    cluster.jobs().for_each([&](const Job& job) {
        if (broken || !is_live(job) || running_.contains({job.id.value, job.run.restarts})) return;
        std::optional<std::string> how = partition_broken(cluster, job);
        if (!how) how = reservation_broken(cluster, job, now);
        if (!how) how = licenses_broken(cluster, job);
        if (!how) how = limits_broken(cluster, job);
        AwaitedKey self{job.array_job.value_or(job.id).value, job.array_task.value_or(kWholeJob)};
        if (held_.contains(self)) how = "although it is held";
        if (job.eligible_time > now) how = "before its time";
        if (job.array_limit > 0 && tasks_at_once(cluster, *job.array_job) > job.array_limit) {
            how = "beside more tasks than its array allows";
        }
        Dependency asked = parse_dependency(job.details->dependency()).value();
        for (const Condition& condition : asked.left) {
            if (!asked.any && !holds(cluster, job, condition))
                how = fmt::format("before {} was fulfilled", job.details->dependency());
        }
        if (how) broken = fmt::format("job {} starts {}", print_job_id(job), *how);
    });
    return broken;
}

std::optional<std::string> Rules::broken_queue(const Cluster& cluster, Time now) const {
    std::optional<std::string> broken;
    cluster.jobs().for_each([&](const Job& job) {
        bool may_run = job.state == JobState::Pending && job.priority > 0 && job.dependency.empty();
        if (!may_run || job.eligible_time > now) return;
        if (!cluster.waiting().is_due(job.id))
            broken = fmt::format("job {} waits, and nobody sees it", print_job_id(job));
    });
    return broken;
}

std::optional<std::string> Rules::broken_step(const Cluster& cluster) const {
    std::optional<std::string> broken;
    cluster.jobs().for_each([&](const Job& job) {
        std::set<std::pair<NodeIndex, std::uint32_t>> taken;
        std::map<NodeIndex, Megabytes> memory;
        for (const auto& step : job.run.steps) {
            if (step->state != StepState::Running) continue;
            auto say = [&](std::string_view what) {
                broken = fmt::format("step {}.{} {}", job.id.value, step->id.value, what);
            };
            if (!is_live(job)) return say("outlives its job");
            for (const NodeShare& share : step->nodes) {
                const NodeShare* whole = job.run.allocation->find(share.node);
                if (!whole) return say("is outside its job");
                bool left = std::find(step->nodes_left.begin(), step->nodes_left.end(),
                                      share.node) != step->nodes_left.end();
                const bool holds =
                    step->holds_memory && !step->overlap && left && whole->memory > 0;
                if (holds && (memory[share.node] += share.memory) > whole->memory)
                    return say("has memory that others hold");
                for (std::uint32_t cpu : share.cpus) {
                    bool own =
                        std::find(whole->cpus.begin(), whole->cpus.end(), cpu) != whole->cpus.end();
                    if (!own) return say("has a CPU that is not its job's");
                    if (!step->overlap && left && !taken.emplace(share.node, cpu).second)
                        return say("shares a CPU");
                }
            }
            if (step->nodes_left.empty()) return say("runs nowhere");
        }
    });
    return broken;
}

std::optional<std::string> Rules::broken_rows(const Rows& rows) const {
    for (const auto& [id, job] : rows.jobs()) {
        if (job.run.end_time && job.run.accounted > run_time(job, *job.run.end_time))
            return fmt::format("job {} was charged for more than it ran", print_job_id(job));
        std::optional<std::string> broken = runs_broken(job, rows);
        if (!broken) broken = steps_broken(job, rows);
        if (broken) return fmt::format("job {} {}", print_job_id(job), *broken);
    }
    return {};
}

}  // namespace sluice
