// core/schedule/explain.cc: the obstacles that are no question of room, and the order of the rest.
#include "core/schedule/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/job/verbs.h"
#include "core/limits/licenses.h"
#include "core/place/place.h"
#include "core/query/reason.h"
#include "core/schedule/estimate.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr std::size_t kNamedMost = 5;          // of jobs that are listed by name
constexpr std::size_t kExplanationsMost = 64;  // of one array

// Bookings that are as if they were not there, until the end of the scope.
class Lifted {
public:
    Lifted(Planner& planner, std::vector<Planner::Number> numbers) : planner_(planner), numbers_(std::move(numbers)) {
        for (Planner::Number number : numbers_) planner_.lift(number);
    }
    ~Lifted() {
        for (Planner::Number number : numbers_) planner_.lay(number);
    }
    Lifted(const Lifted&) = delete;
    Lifted& operator=(const Lifted&) = delete;

    const std::vector<Planner::Number>& numbers() const { return numbers_; }

private:
    Planner& planner_;
    std::vector<Planner::Number> numbers_;
};

std::uint32_t tier_of(const Question& question) {
    std::uint32_t tier = 0;
    for (const std::string& name : partitions_of(question.job)) {
        if (const Partition* partition = question.cluster.find_partition(name)) {
            tier = std::max(tier, partition->config.priority_tier);
        }
    }
    return tier;
}

// Whoever is booked there gives way: it is the job itself, or behind it.
bool gives_way(const Question& question, std::uint32_t tier, const Booking& booking) {
    if (booking.job == question.job.id) return true;
    std::uint32_t its_tier = question.cluster.partitions()[booking.partition].config.priority_tier;
    if (its_tier != tier) return its_tier < tier;
    QueueKey mine{question.job.priority, question.job.id};
    return mine < QueueKey{question.cluster.job(booking.job).priority, booking.job};
}

Explanation::Awaited awaited_job(const Question& question, const Job& job, std::string condition) {
    Explanation::Awaited awaited{.condition = std::move(condition), .job = print_job_id(job)};
    awaited.state = state_name(shown_state(job));
    if (is_live(job)) awaited.due = expected_end(question.cluster, job, question.now);
    return awaited;
}

// The jobs of a condition, or the one of them that is not over.
Explanation::Awaited awaited_of(const Question& question, const Condition& condition) {
    std::string text = print_dependency({.left = {condition}});
    text = text.substr(0, text.find('('));
    JobRef ref{.job = condition.job};
    if (condition.task) ref.tasks = TaskSet::parse(fmt::format("{}", *condition.task)).value();
    Explanation::Awaited awaited{.condition = text, .job = text.substr(text.find(':') + 1)};
    for (JobId id : find_jobs(question.cluster, ref)) {
        const Job& job = question.cluster.job(id);
        awaited = awaited_job(question, job, text);
        if (!is_finished(job.state)) break;
    }
    awaited.failed = condition.failed;
    if (condition.due) awaited.due = condition.due;
    return awaited;
}

void add_singleton(const Question& question, Explanation& out) {
    auto group = question.cluster.name_groups.find({question.job.user, question.job.request->name});
    if (group == question.cluster.name_groups.end()) return;
    for (const NameGroup::Key& key : group->second.live) {
        if (key.second == question.job.id || out.awaited.size() >= kNamedMost) break;
        out.awaited.push_back(awaited_job(question, question.cluster.job(key.second), "singleton"));
    }
}

void add_dependencies(const Question& question, Explanation& out) {
    out.any_awaited = question.job.dependency.any;
    for (const Condition& condition : question.job.dependency.left) {
        if (condition.kind == DependencyKind::Singleton) add_singleton(question, out);
        else out.awaited.push_back(awaited_of(question, condition));
    }
}

std::vector<Explanation::Holder> license_holders(const Question& question, const std::string& name) {
    std::set<JobId> live;
    for (std::uint32_t i = 0; i < question.cluster.node_count(); ++i) {
        const Node& node = question.cluster.node(NodeIndex{i});
        live.insert(node.jobs.begin(), node.jobs.end());
    }
    std::vector<Explanation::Holder> holders;
    for (JobId id : live) {
        const Job& job = question.cluster.job(id);
        if (job.licenses_held.empty()) continue;
        for (const LicenseCount& held : licenses_held_by(job)) {
            if (held.name != name) continue;
            holders.push_back(holder_of(question, job));
            holders.back().amounts["license/" + name] = held.count;
        }
    }
    std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
    if (holders.size() > kNamedMost) holders.resize(kNamedMost);
    return holders;
}

void add_licenses(const Question& question, Explanation& out) {
    const Cluster& cluster = question.cluster;
    if (!licenses_missing(cluster, question.job, question.now)) return;
    Result<LicenseWish> wish = parse_licenses(question.job.request->licenses);
    if (!wish) return;
    for (const LicenseCount& wanted : wish->wanted) {
        Explanation::LicenseShortage shortage{.name = wanted.name, .wanted = wanted.count};
        for (const auto& [name, total] : cluster.settings().licenses) {
            if (name == wanted.name) shortage.total = total;
        }
        auto used = cluster.licenses_used.find(wanted.name);
        if (used != cluster.licenses_used.end()) shortage.used = used->second;
        if (std::uint64_t{shortage.used} + shortage.wanted <= shortage.total) continue;
        shortage.holders = license_holders(question, wanted.name);
        out.licenses.push_back(std::move(shortage));
    }
}

std::string obstacle_text(const Question& question, const Partition& partition, Reason reason) {
    const PartitionConfig& config = partition.config;
    const Shape& shape = question.job.request->shape;
    switch (reason) {
        case Reason::PartitionTimeLimit:
            return fmt::format("jobs may run for {} there, this one asks for {}", print_time_limit(config.max_time),
                               print_time_limit(question.job.time_limit));
        case Reason::PartitionNodeLimit:
            if (config.max_nodes && shape.nodes_min > *config.max_nodes) {
                return fmt::format("jobs may have {} nodes there, this one asks for {}", *config.max_nodes, shape.nodes_min);
            }
            return fmt::format("jobs must have {} nodes there, this one asks for {}", config.min_nodes,
                               shape.nodes_max.value_or(shape.nodes_min));
        default: return fmt::format("it is {}", config.state);
    }
}

// Which of its partitions let it in; the obstacles of the others are noted.
std::vector<const Partition*> open_partitions(const Question& question, Explanation& out) {
    std::vector<const Partition*> open;
    JobClass probe{.sample = question.job.request, .partition = {}, .time_limit = question.job.time_limit};
    for (const std::string& name : partitions_of(question.job)) {
        const Partition* partition = question.cluster.find_partition(name);
        if (!partition) {
            out.partitions.push_back({name, Reason::PartitionDown, "it is gone"});
            continue;
        }
        Result<Need> need = need_of(question.cluster, question.job, *partition);
        if (!need) {
            out.partitions.push_back({name, Reason::BadConstraints, to_string(need.error())});
        } else if (auto reason = partition_forbids(probe, *partition)) {
            out.partitions.push_back({name, *reason, obstacle_text(question, *partition, *reason)});
        } else {
            open.push_back(partition);
        }
    }
    return open;
}

// Jobs that come first and wait for some of the same nodes.
void add_ahead(const Question& question, Explanation& out) {
    Cluster& cluster = question.cluster;
    const std::vector<Partition>& partitions = cluster.partitions();
    std::uint32_t tier = tier_of(question);
    std::set<std::size_t> same, above;
    for (const std::string& name : partitions_of(question.job)) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) continue;
        same.insert(static_cast<std::size_t>(partition - partitions.data()));
        for (std::size_t i = 0; i < partitions.size(); ++i) {
            const auto& nodes = cluster.scheduler().layout.in_partition[i];
            bool shared = std::any_of(partition->nodes.begin(), partition->nodes.end(),
                                      [&](NodeIndex node) { return nodes[node.value]; });
            if (!shared) continue;
            if (partitions[i].config.priority_tier > tier) above.insert(i);
            else if (partitions[i].config.priority_tier == tier) same.insert(i);
        }
    }
    QueueKey mine{question.job.priority, question.job.id};
    std::vector<QueueKey> first;
    cluster.scheduler().queue.for_each_class([&](JobClass& job_class) {
        bool all = false, some = false;
        for (const JobClass::InPartition& in : needs_of(cluster, job_class)) {
            all = all || above.contains(in.partition);
            some = some || same.contains(in.partition);
        }
        if (!all && !some) return;
        std::size_t named = 0;
        for (const QueueKey& key : job_class.waiting) {
            if (key.job == question.job.id || (!all && !(key < mine))) break;
            const Job& job = cluster.job(key.job);
            out.ahead += is_array_record(job) ? static_cast<std::uint32_t>(job.array_tasks.size()) : 1;
            if (named++ < kNamedMost) first.push_back(key);
        }
    });
    std::sort(first.begin(), first.end());
    if (first.size() > kNamedMost) first.resize(kNamedMost);
    for (const QueueKey& key : first) out.first_ahead.push_back(print_job_id(cluster.job(key.job)));
}

// When the plan has it start; without a place in the plan, when it would find one.
void add_start(const Question& question, Explanation& out) {
    const Planner& planner = question.cluster.scheduler().planner;
    if (auto number = planner.find_booking(question.job.id)) {
        const Booking& booking = planner.booking(*number);
        out.start = std::max(question.now, planner.time(booking.start));
        out.start_nodes = names_of(question.cluster, booking.nodes);
        return;
    }
    auto view = question.cluster.plan();
    if (const StartEstimate* estimate = view ? view->find(question.job.id) : nullptr) {
        out.start = std::max(question.now, estimate->start);
        return;
    }
    if (auto estimate = estimate_start(question.cluster, question.now, question.job)) {
        out.start = estimate->start;
        out.start_nodes = names_of(question.cluster, estimate->nodes);
    }
}

// What it asks for in all, as far as that is fixed before it has its nodes.
Tres total_of(const Need& need, const Layout& layout) {
    Tres total{{"node", need.nodes_min}};
    auto kind = std::find(need.possible.begin(), need.possible.end(), true);
    if (kind == need.possible.end()) return total;
    const NodeKind& sample = layout.kinds[static_cast<std::size_t>(kind - need.possible.begin())];
    std::uint32_t tasks = std::max(1u, need.tasks / need.nodes_min);
    Amounts each = amounts_for(need, sample, tasks);
    std::uint64_t cpus = std::uint64_t(each[Amounts::kCpus]) * need.nodes_min;
    if (need.exclusive == Exclusive::No) cpus = std::max<std::uint64_t>(cpus, std::uint64_t{need.tasks} * need.shape->cpus_per_task);
    total["cpu"] = cpus;
    bool all_of_it = need.mem_per_node == Megabytes{0};
    if (need.memory_counts && !all_of_it) total["mem"] = std::uint64_t(each[Amounts::kMemory]) * need.nodes_min;
    for (const GresCount& wish : need.gres_per_node) total[tres_name(wish)] += wish.count * need.nodes_min;
    for (const GresCount& wish : need.gpus) total[tres_name(wish)] += wish.count;
    for (const GresCount& wish : need.shape->gpus_per_task) total[tres_name(wish)] += wish.count * need.tasks;
    return total;
}

// What concerns room: the plan as it is, then without those who give way, then without anybody.
void add_room(const Question& question, const std::vector<const Partition*>& open, Explanation& out) {
    Scheduler& scheduler = question.cluster.scheduler();
    bool others_keep_it = out.hold != Reason::None || !out.licenses.empty() || out.array_limit > 0;
    bool in_order = !question.cluster.settings().backfill.enabled && out.ahead > 0;
    std::uint32_t tier = tier_of(question);
    Lifted behind(scheduler.planner, scheduler.planner.laid_bookings([&](const Booking& booking) {
        return gives_way(question, tier, booking);
    }));
    if (!others_keep_it && !in_order) out.now_if = changes_that_help(question);
    if (open.empty()) return;
    Lifted promised(scheduler.planner, scheduler.planner.laid_bookings([](const Booking&) { return true; }));
    Need need = need_of(question.cluster, question.job, *open.front()).value();
    explain_shortage(question, need, promised.numbers(), out);
}

}  // namespace

std::string tres_name(const GresCount& wish) {
    return fmt::format("gres/{}{}{}", wish.name, wish.type.empty() ? "" : ":", wish.type);
}

Explanation::Holder holder_of(const Question& question, const Job& holder) {
    return {.job = print_job_id(holder),
            .user = holder.user,
            .partition = holder.partition,
            .nodes = {},
            .amounts = {},
            .waits = false,
            .start = holder.start_time,
            .end = expected_end(question.cluster, holder, question.now)};
}

Explanation explain(Cluster& cluster, Time now, JobId id) {
    std::shared_ptr<const Job> kept = cluster.find_job(id);
    const Job& job = *kept;
    Explanation out{.job = print_job_id(job), .name = job.request->name, .user = job.user, .partition = job.partition,
                    .state = job.state};
    out.reason = shown_reason(job, cluster.partitions(), cluster.plan().get());
    out.reason_detail = job.reason_detail;
    out.time_limit = job.time_limit;
    if (job.allocation) out.running_on = job.allocation->node_names;
    if (job.state != JobState::Pending) return out;

    cluster.refresh_layout();
    Scheduler& scheduler = cluster.scheduler();
    if (!scheduler.is_planned) scheduler.planner.reset(cluster, now);
    Question question{cluster, now, job};
    if (job.priority == 0) out.hold = job.reason == Reason::JobHeldAdmin ? job.reason : Reason::JobHeldUser;
    if (job.eligible_time > now) out.begin = job.eligible_time;
    out.deadline = job.request->deadline;
    add_dependencies(question, out);
    if (array_limit_reached(cluster, job)) {
        out.array_limit = job.array_limit;
        out.array_running = cluster.array_running.at(job.array_job->value);
    }
    add_licenses(question, out);
    std::vector<const Partition*> open = open_partitions(question, out);
    const std::vector<std::string> names = partitions_of(job);
    const Partition* sample = open.empty() ? cluster.find_partition(names.empty() ? "" : names.front()) : open.front();
    if (sample) {
        if (Result<Need> need = need_of(cluster, job, *sample)) out.needs = total_of(*need, scheduler.layout);
    }
    if (!job.dependency.empty()) return out;
    if (scheduler.queue.contains(id)) add_ahead(question, out);
    if (out.hold == Reason::None && !open.empty()) add_start(question, out);
    if (!out.begin) add_room(question, open, out);
    return out;
}

void on_explain_job(Cluster& cluster, Time now, const ExplainJob& event, Effects& effects) {
    std::vector<JobId> jobs = find_jobs(cluster, event.job);
    if (jobs.empty()) {
        effects.push_back(Reply{event.request, Error{ErrorCode::InvalidJobId, {}}});
        return;
    }
    // Of an array, those that wait; if none does, one that tells so.
    std::stable_partition(jobs.begin(), jobs.end(),
                          [&](JobId id) { return cluster.job(id).state == JobState::Pending; });
    std::vector<Explanation> answer;
    for (JobId id : jobs) {
        if (!answer.empty() && (cluster.job(id).state != JobState::Pending || answer.size() >= kExplanationsMost)) break;
        answer.push_back(explain(cluster, now, id));
    }
    effects.push_back(Reply{event.request, std::move(answer)});
}

}  // namespace sluice
