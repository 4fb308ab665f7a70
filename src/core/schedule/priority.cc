#include "core/schedule/priority.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "core/limits/tres.h"
#include "core/limits/usage.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"

namespace sluice {

namespace {

// Compat: priority/basic counts down from here, so that earlier jobs come first.
constexpr std::uint32_t kPriorityTop = 4294901760;
constexpr double kPriorityMax = 4294967294;

Factor weigh(double raw, double weight) {
    return {raw, raw * weight};
}

double license_count(std::string_view licenses, std::string_view wanted) {
    for (std::string_view word : split(licenses, ',')) {
        std::size_t end = word.find_first_of(":=");
        if (trim(word.substr(0, end)) != wanted) continue;
        if (end == std::string_view::npos) return 1;
        return static_cast<double>(to_number(word.substr(end + 1)).value_or(0));
    }
    return 0;
}

constexpr std::string_view kLicense = "license/";

double cluster_licenses(const Settings& settings, std::string_view name) {
    for (const auto& [license, count] : settings.licenses) {
        if (license == name) return count;
    }
    return 0;
}

PartitionScale partition_scale(const Cluster& cluster, const Partition& partition) {
    PartitionScale scale{.name = partition.config.name,
                         .factor = static_cast<double>(partition.config.priority_job_factor),
                         .tres_totals = {}};
    const auto& weights = cluster.settings().priority.weight_tres;
    if (weights.empty()) return scale;
    Tres totals;
    for (NodeIndex index : partition.nodes) {
        for (const auto& [name, count] : cfg_tres(cluster.node(index))) totals[name] += count;
        ++totals["node"];
    }
    for (const auto& [name, weight] : weights) {
        double total = name.starts_with(kLicense)
                           ? cluster_licenses(cluster.settings(), name.substr(kLicense.size()))
                           : static_cast<double>(totals[name]);
        scale.tres_totals.push_back(total);
    }
    return scale;
}

double highest_partition(const std::vector<PartitionScale>& partitions) {
    double highest = 0;
    for (const PartitionScale& partition : partitions)
        highest = std::max(highest, partition.factor);
    return highest > 0 ? highest : 1;
}

std::map<std::string, double, std::less<>> qos_factors(const Cluster& cluster) {
    double highest = 1;
    if (!cluster.settings().priority.has_flag("NO_NORMAL_QOS")) {
        for (const Qos& qos : cluster.qos()) highest = std::max<double>(highest, qos.priority);
    }
    std::map<std::string, double, std::less<>> factors;
    for (const Qos& qos : cluster.qos()) factors[qos.name] = qos.priority / highest;
    return factors;
}

void read_flags(PriorityScale& scale, const PrioritySettings& settings) {
    scale.accrue_always = settings.has_flag("ACCRUE_ALWAYS");
    scale.calculate_running = settings.has_flag("CALCULATE_RUNNING");
    scale.incr_only = settings.has_flag("INCR_ONLY");
    scale.small_relative_to_time = settings.has_flag("SMALL_RELATIVE_TO_TIME");
    scale.raw_tres = settings.has_flag("NO_NORMAL_TRES");
}

// Of jobs that have started, the time that they have waited.
double age_factor(const PriorityScale& scale, const Job& job) {
    Time since = scale.accrue_always ? job.submit_time : job.eligible_time;
    if (scale.accrues && job.state == JobState::Pending) {
        auto counted = scale.accrues->find(job.id.value);
        if (counted == scale.accrues->end()) return 0;
        since = std::max(since, counted->second);
    }
    Time until =
        job.state != JobState::Pending && job.run.start_time ? *job.run.start_time : scale.time;
    Seconds most = scale.weights().max_age;
    if (until <= since) return 0;
    if (until - since >= most) return 1;
    return static_cast<double>((until - since).count()) / static_cast<double>(most.count());
}

double size_factor(const PriorityScale& scale, const Job& job, double nodes, double cpus) {
    double size = (nodes / scale.nodes + cpus / scale.cpus) / 2;
    if (scale.small_relative_to_time) {
        bool timed = !job.time_limit.unlimited() && job.time_limit.length() >= Minutes{1};
        constexpr double kYear = 365 * 24 * 60;  // minutes: a job without a limit
        double minutes = timed ? static_cast<double>(job.time_limit.length().count()) / 60 : 1;
        if (job.time_limit.unlimited()) minutes = kYear;
        size = cpus / minutes / scale.cpus;
    }
    size = std::clamp(size, 0.0, 1.0);
    return scale.weights().favor_small ? 1 - size : size;
}

void add_asked_for(const PriorityScale& scale, const Job& job, const PartitionScale& partition,
                   PriorityFactors& factors) {
    const PrioritySettings& weights = scale.weights();
    if (weights.weight_job_size == 0 && weights.weight_tres.empty()) return;
    const Partition* place = nullptr;
    for (const Partition& each : *scale.cluster_partitions) {
        if (each.config.name == partition.name) place = &each;
    }
    Tres wanted = tres_wanted(job, place, *scale.settings);
    if (weights.weight_job_size != 0) {
        double size = size_factor(scale, job, static_cast<double>(wanted["node"]),
                                  static_cast<double>(wanted["cpu"]));
        factors.job_size = weigh(size, weights.weight_job_size);
    }
    for (std::size_t i = 0; i < weights.weight_tres.size(); ++i) {
        const auto& [name, weight] = weights.weight_tres[i];
        double count = name.starts_with(kLicense)
                           ? license_count(job.request->licenses, name.substr(kLicense.size()))
                           : static_cast<double>(wanted[name]);
        double total = partition.tres_totals[i];
        if (!scale.raw_tres) count = total > 0 ? std::min(count / total, 1.0) : 0;
        factors.tres.push_back({name, weigh(count, weight)});
    }
}

void add_fixed(const PriorityScale& scale, const Job& job, std::string_view name,
               PriorityFactors& factors) {
    const PrioritySettings& weights = scale.weights();
    const PartitionScale* partition = scale.find_partition(name);
    if (!partition) return;  // no longer in slurm.conf; the job waits until it is
    if (weights.weight_partition != 0)
        factors.partition = weigh(partition->factor, weights.weight_partition);
    auto qos = scale.qos.find(job.request->qos);
    if (weights.weight_qos != 0 && qos != scale.qos.end())
        factors.qos = weigh(qos->second, weights.weight_qos);
    add_asked_for(scale, job, *partition, factors);
}

// Caches the last association: successive jobs mostly have the same one.
class LastShare {
public:
    explicit LastShare(const FairShare& shares) : shares_(shares) {}
    // Null: it has no association. Of a job that waits in several partitions that of the first.
    const ShareLine* of(const Job& job) {
        const std::string& account = job.request->account;
        const std::string_view partition =
            std::string_view(job.partition).substr(0, job.partition.find(','));
        if (!is_known_ || user_ != job.user || account_ != account || partition_ != partition) {
            own_ = shares_.find(account, job.user, partition);
            user_ = job.user;
            account_ = account;
            partition_ = partition;
            is_known_ = true;
        }
        return own_;
    }

private:
    const FairShare& shares_;
    bool is_known_ = false;
    std::string account_, partition_;
    UserId user_;
    const ShareLine* own_ = nullptr;
};

void add_moving(const PriorityScale& scale, const Job& job, LastShare& shares_of,
                PriorityFactors& factors) {
    const PrioritySettings& weights = scale.weights();
    if (weights.weight_age != 0) factors.age = weigh(age_factor(scale, job), weights.weight_age);
    bool shares = weights.weight_fairshare != 0 || weights.weight_assoc != 0;
    const ShareLine* own = shares && !scale.shares->empty() ? shares_of.of(job) : nullptr;
    if (own && weights.weight_fairshare != 0)
        factors.fair_share = weigh(own->factor, weights.weight_fairshare);
    if (own && weights.weight_assoc != 0)
        factors.assoc = weigh(own->association->priority / scale.assoc_top, weights.weight_assoc);
    factors.site = job.site_factor;
    factors.nice = job.request->nice;
}

double best_fixed(const PriorityScale& scale, const Job& job) {
    double best = 0;
    bool first = true;
    for (std::string_view name : split(job.partition, ',')) {
        PriorityFactors factors;
        add_fixed(scale, job, name, factors);
        if (double fixed = factors.fixed(); first || fixed > best) best = fixed;
        first = false;
    }
    return best;
}

std::uint32_t basic_priority(const Job& job) {
    return priority_of(double{kPriorityTop} - job.id.value - job.request->nice);
}

// The new priority of a job whose priority is calculated; `fixed` is the part that follows from its
// request.
std::uint32_t calculated(const PriorityScale& scale, const Job& job, LastShare& shares,
                         double fixed) {
    if (!scale.weights().multifactor) return basic_priority(job);
    PriorityFactors factors;
    add_moving(scale, job, shares, factors);
    return priority_of(fixed + factors.moving());
}

struct NewPriority {
    QueueKey before;
    std::uint32_t priority = 0;
};

// New priorities by job id: a table where ids are close together, as they mostly are.
class NewPriorities {
public:
    explicit NewPriorities(const std::vector<NewPriority>& changes)
        : changes_(changes) {  // in the order of ids
        first_ = changes.front().before.job.value;
        std::size_t span = changes.back().before.job.value - first_ + 1;
        if (span > 16 * changes.size()) return;
        table_.assign(span, kSame);
        for (const NewPriority& change : changes)
            table_[change.before.job.value - first_] = change.priority;
    }
    std::uint32_t of(const QueueKey& key) const {
        std::uint32_t found = table_.empty() ? search(key.job) : look_up(key.job);
        return found == kSame ? key.priority : found;
    }

private:
    static constexpr std::uint32_t kSame = 0;  // that of held jobs: not in the queue
    std::uint32_t look_up(JobId id) const {
        std::size_t place = id.value - first_;
        return id.value >= first_ && place < table_.size() ? table_[place] : kSame;
    }
    std::uint32_t search(JobId id) const {
        auto change = std::lower_bound(
            changes_.begin(), changes_.end(), id,
            [](const NewPriority& a, JobId wanted) { return a.before.job < wanted; });
        return change != changes_.end() && change->before.job == id ? change->priority : kSame;
    }

    const std::vector<NewPriority>& changes_;
    std::uint32_t first_ = 0;
    std::vector<std::uint32_t> table_;
};

// Moves jobs whose priority changed within the queues, which are ordered by priority.
void follow_in_queue(Cluster& cluster, const std::vector<NewPriority>& changes) {
    constexpr std::size_t kMany = 256;
    if (changes.empty()) return;
    Queue& queue = cluster.waiting().queue();
    if (changes.size() < kMany) {
        for (const NewPriority& change : changes) queue.move(change.before, change.priority);
    } else {
        NewPriorities priorities(changes);
        queue.move_all([&](const QueueKey& key) { return priorities.of(key); });
    }
    cluster.want_pass();
}

}  // namespace

const PartitionScale* PriorityScale::find_partition(std::string_view name) const {
    for (const PartitionScale& partition : partitions) {
        if (partition.name == name) return &partition;
    }
    return nullptr;
}

PriorityScale make_scale(const Cluster& cluster, Time now) {
    const PrioritySettings& settings = cluster.settings().priority;
    PriorityScale scale{
        .settings = cluster.settings_ptr(),
        .cluster_partitions = cluster.partitions_ptr(),
        .shares = cluster.fair_share(),
        .time = now,
        .nodes = std::max<double>(1, static_cast<double>(cluster.settings().nodes.size())),
        .cpus = 0,
        .partitions = {},
        .qos = qos_factors(cluster)};
    for (const NodeConfig& node : cluster.settings().nodes) scale.cpus += node.cpus;
    scale.cpus = std::max<double>(1, scale.cpus);
    for (const Partition& partition : cluster.partitions()) {
        scale.partitions.push_back(partition_scale(cluster, partition));
    }
    if (!settings.has_flag("NO_NORMAL_PART")) {
        double highest = highest_partition(scale.partitions);
        for (PartitionScale& partition : scale.partitions) partition.factor /= highest;
    }
    if (!settings.has_flag("NO_NORMAL_ASSOC")) {
        for (const ShareLine& line : scale.shares->lines)
            scale.assoc_top = std::max<double>(scale.assoc_top, line.association->priority);
    }
    read_flags(scale, settings);
    return scale;
}

PriorityFactors factors_of(const PriorityScale& scale, const Job& job, std::string_view partition) {
    PriorityFactors factors;
    add_fixed(scale, job, partition, factors);
    LastShare shares(*scale.shares);
    add_moving(scale, job, shares, factors);
    return factors;
}

std::uint32_t priority_of(double total) {
    return static_cast<std::uint32_t>(std::clamp(std::trunc(total), 1.0, kPriorityMax));
}

std::uint32_t priority_in(const PriorityScale& scale, const Job& job, std::string_view partition) {
    if (!is_calculated(job) || !scale.weights().multifactor) return job.priority;
    return priority_of(factors_of(scale, job, partition).total());
}

bool is_calculated(const Job& job) {
    return job.priority != 0 && !job.priority_by_hand;
}

void set_first_priority(const Cluster& cluster, Job& job) {
    const JobTerms& demand = *job.request;
    calculate_priority(cluster, job);
    if (demand.hold || demand.priority == 0u) {
        job.priority = 0;
    } else if (demand.priority) {
        job.priority = *demand.priority;
        job.priority_by_hand = true;
    }
}

void calculate_priority(const Cluster& cluster, Job& job) {
    const PriorityScale& scale = cluster.priority_scale();
    job.priority_by_hand = false;
    job.priority_base = scale.weights().multifactor ? best_fixed(scale, job) : 0;
    LastShare shares(*scale.shares);
    job.priority = calculated(scale, job, shares, job.priority_base);
}

void place_in_queue(Cluster& cluster, JobId id, std::uint32_t priority) {
    const QueueKey before{std::exchange(cluster.edit_shown(id)->priority, priority), id};
    follow_in_queue(cluster, {{before, priority}});
}

namespace {

// Also the part that follows from the request has changed, which is kept in the records. It is
// derived, so it is not stored.
std::vector<NewPriority> write_priorities(Cluster& cluster, unsigned states) {
    const PriorityScale& scale = cluster.priority_scale();
    std::vector<NewPriority> changes;
    LastShare shares(*scale.shares);
    double fixed = 0;
    std::uint32_t priority = 0;
    cluster.edit_shown_where(
        [](const ChunkSummary<Job>&) { return true; },
        [&](const Job& job) {
            std::uint32_t before = priority = cluster.priorities().of(job);
            fixed = job.priority_base;
            if ((states & 1u << static_cast<unsigned>(job.state)) != 0 && is_calculated(job)) {
                fixed = scale.weights().multifactor ? best_fixed(scale, job) : 0;
                priority = calculated(scale, job, shares, fixed);
            }
            if (priority != before) changes.push_back({{before, job.id}, priority});
            return priority != job.priority || fixed != job.priority_base;
        },
        [&](Job& job) {
            job.priority = priority;
            job.priority_base = fixed;
        });
    cluster.set_priorities({});
    return changes;
}

// Only time has passed: no record changes.
std::vector<NewPriority> renew_priorities(Cluster& cluster, unsigned states) {
    const PriorityScale& scale = cluster.priority_scale();
    std::vector<NewPriority> changes;
    LastShare shares(*scale.shares);
    PriorityTable newer;
    cluster.jobs().for_each(
        [&](const ChunkSummary<Job>& summary) { return (summary.shown_states & states) != 0; },
        [&](const Job& job) {
            if ((states & 1u << static_cast<unsigned>(job.state)) == 0 || !is_calculated(job))
                return;
            std::uint32_t before = cluster.priorities().of(job);
            std::uint32_t priority = calculated(scale, job, shares, job.priority_base);
            if (scale.incr_only) priority = std::max(priority, before);
            if (priority != job.priority) newer.set(job.id, priority);
            if (priority != before) changes.push_back({{before, job.id}, priority});
        });
    cluster.set_priorities(std::move(newer));
    return changes;
}

}  // namespace

void renew_fair_share(Cluster& cluster) {
    if (cluster.associations().empty() && cluster.fair_share()->empty()) return;
    forget_unknown_usage(cluster);
    cluster.set_fair_share(std::make_shared<const FairShare>(
        fair_share_of(cluster.policy_ptr(), cluster.associations_ptr(), cluster.usage(),
                      cluster.settings().priority)));
}

void reprioritize_all(Cluster& cluster, Time now, bool anew) {
    renew_fair_share(cluster);
    PriorityScale next = anew ? make_scale(cluster, now) : cluster.priority_scale();
    next.time = now;
    next.shares = cluster.fair_share();
    next.accrues = accrue_times(cluster, now, cluster.priority_scale().accrues.get());
    cluster.set_priority_scale(std::make_shared<const PriorityScale>(std::move(next)));
    unsigned states = 1u << static_cast<unsigned>(JobState::Pending);
    if (cluster.priority_scale().calculate_running)
        states |= 1u << static_cast<unsigned>(JobState::Running);
    follow_in_queue(cluster,
                    anew ? write_priorities(cluster, states) : renew_priorities(cluster, states));
    if (!cluster.priorities_due()) watch_priorities(cluster, now);
}

void watch_priorities(Cluster& cluster, Time now) {
    const PrioritySettings& settings = cluster.settings().priority;
    bool moves = settings.weight_age != 0 || settings.weight_fairshare != 0 ||
                 settings.weight_assoc != 0 || keeps_usage(cluster);
    cluster.set_priorities_due({});
    if (!settings.multifactor || !moves) return;
    const Time due = now + std::max(settings.calc_period, Seconds{1});
    cluster.set_priorities_due(due);
    cluster.add_timer({due, TimerKind::Priority, 0});
}

void on_priority_timer(Cluster& cluster, Time now, const Timer& timer) {
    if (timer.due != cluster.priorities_due()) return;  // the period was changed since
    advance_usage(cluster, now);
    reprioritize_all(cluster, now, false);
    watch_priorities(cluster, now);
}

}  // namespace sluice
