// core/schedule/pass.cc
//
// Decides which job starts next. A full pass walks all waiting jobs, highest priority first: a job
// that can start starts, one that cannot is booked for its earliest start, and later jobs may start
// only where that breaks no booking. Between full passes a quick pass looks at touched nodes and
// new jobs. Jobs of a class are decided together, so cost grows with classes, not with jobs.
#include "core/schedule/pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/job/dependency.h"
#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/first_cores.h"
#include "core/limits/licenses.h"
#include "core/limits/memory.h"
#include "core/limits/reservations.h"
#include "core/limits/tres.h"
#include "core/place/place.h"
#include "core/schedule/gang.h"
#include "core/schedule/spot.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

// A full pass that looks at no more nodes than this runs at every event; more expensive ones are
// delayed so that planning takes a small share of the time. About 60 million nodes are visited per
// second.
constexpr std::uint64_t kCheapSteps = 20'000;
constexpr std::uint64_t kStepsPerSecondOfRest = 2'000'000;
constexpr std::uint64_t kStepsForMore = 500'000;  // spent on second and later bookings of a class

}  // namespace

std::optional<Reason> partition_forbids(const Cluster& cluster, const JobClass& job_class,
                                        const Need& need) {
    const Partition& partition = *need.partition;
    const PartitionConfig& config = partition.config;
    if (config.state == PartitionState::Down) return Reason::PartitionDown;
    if (config.state == PartitionState::Inactive) return Reason::PartitionInactive;
    const PartitionBounds bounds = bounds_of(cluster, *job_class.sample, config);
    if (job_class.time_limit > bounds.max_time) return Reason::PartitionTimeLimit;
    const Shape& shape = job_class.sample->shape;
    bool too_many = shape.nodes_min > partition.nodes.size();
    if (too_many || !takes_node_count(bounds, shape)) return Reason::PartitionNodeLimit;
    if (over_memory_limit(cluster, need)) return Reason::MaxMemPerLimit;
    if (config.req_resv && job_class.sample->reservation.empty()) return Reason::PartitionConfig;
    if (partition.barred_users.contains(job_class.user)) return Reason::PartitionConfig;
    if (!takes_qos(config, job_class.sample->qos)) return Reason::QosNotAllowed;
    return {};
}

std::string qos_not_allowed(const JobTerms& demand, const PartitionConfig& config) {
    bool allows = !config.allow_qos.empty();
    std::string list = join(allows ? config.allow_qos : config.deny_qos, ",");
    return fmt::format("Job's QOS not permitted to use this partition ({} {} {} {} {})",
                       config.name, allows ? "allows" : "denies", list,
                       allows ? "not" : "including", demand.qos);
}

bool comes_in_time(Reason reason) {
    return reason == Reason::Licenses || reason == Reason::JobArrayTaskLimit ||
           reason == Reason::Reservation;
}

bool array_limit_reached(const Cluster& cluster, const Job& job) {
    if (!job.array_job || job.array_limit == 0) return false;
    return cluster.arrays().running(*job.array_job) >= job.array_limit;
}

std::string unavailable_nodes(const Cluster& cluster, const Need& need) {
    std::vector<std::string> names;
    bool subset_will_do = need.nodes_max && *need.nodes_max < need.required.size();
    for (NodeIndex node : need.required) {
        if (subset_will_do || may_take_jobs(cluster.node(node))) continue;
        names.push_back(cluster.node(node).config.name);
    }
    return names.empty() ? ""
                         : "UnavailableNodes:" + Hostlist(std::move(names)).sorted().to_string();
}

PlanTime length_of(TimeLimit limit) {
    if (limit.unlimited()) return kForever;
    return static_cast<PlanTime>(std::min<std::int64_t>(limit.length().count(), kForever));
}

PlanTime length_of(const JobClass& job_class) {
    return length_of(job_class.time_limit);
}

Time switches_until(const Cluster& cluster, const Job& job) {
    const Shape& shape = job.request->shape;
    Seconds most = cluster.settings().max_switch_wait;
    return job.eligible_time +
           (shape.switches_wait.count() > 0 ? std::min(shape.switches_wait, most) : most);
}

SelectOptions select_options(const Cluster& cluster, Time now, const Need& need, const Job& job) {
    return {.least_loaded = cluster.settings().least_loaded || need.partition->config.lln,
            .any_switches = now >= switches_until(cluster, job)};
}

Pass::Pass(Cluster& cluster, Time now, Effects& effects)
    : cluster_(cluster),
      scheduler_(cluster.scheduler()),
      now_(now),
      effects_(effects),
      detail_{cluster, scheduler_.planner.tick(now)},
      finder_(scheduler_.planner, scheduler_.layout),
      first_blocked_(cluster.partitions().size()),
      heads_(cluster.partitions().size()),
      stopped_(cluster.partitions().size()),
      booked_in_(cluster.partitions().size()),
      report_{.queue = cluster.waiting().queue().size()} {}

// One entry for each reservation that its jobs may start in now; also one outside if they ask for
// no reservation.
void Pass::add_entries(JobClass& job_class, JobClass::InPartition& in, std::vector<Entry>& found) {
    const Partition& partition = cluster_.partitions()[in.partition];
    bool outside = job_class.sample->reservation.empty();
    for (Spot& spot : spots_in(cluster_, now_, partition, job_class.reservations, outside)) {
        Entry entry{&job_class, &in, partition.config.priority_tier, *job_class.waiting.begin(),
                    job_class.is_fresh};
        entry.joined = job_class.joined;
        entry.is_awaited = scheduler_.making_room.contains(entry.key.job.value);
        entry.reservation = spot.reservation;
        entry.nodes = std::move(spot.reserved);
        found.push_back(std::move(entry));
    }
}

// One entry for every class and partition in which it may run.
std::vector<Pass::Entry> Pass::entries() {
    std::vector<Entry> found;
    std::vector<std::tuple<JobId, Reason, std::string>> to_park;
    cluster_.waiting().queue().for_each_class([&](JobClass& job_class) {
        std::optional<Reason> forbidden;
        std::string detail;
        std::size_t before = found.size();
        for (JobClass::InPartition& in : needs_of(cluster_, job_class)) {
            const Partition& partition = cluster_.partitions()[in.partition];
            auto reason = in.error ? std::optional(Reason::BadConstraints)
                                   : partition_forbids(cluster_, job_class, in.need);
            std::string why;
            if (reason == Reason::QosNotAllowed)
                why = qos_not_allowed(*job_class.sample, partition.config);
            if (!reason) {
                why = unavailable_nodes(cluster_, in.need);
                if (!why.empty()) reason = Reason::ReqNodeNotAvail;
            }
            if (!reason) {
                add_entries(job_class, in, found);
                if (found.size() == before)
                    reason = Reason::Reservation;  // it has not begun, or is not for them
            }
            if (!reason || forbidden) continue;
            forbidden = reason;
            detail = std::move(why);
        }
        if (found.size() > before) return;
        for (const QueueKey& key : job_class.waiting) {
            to_park.emplace_back(key.job, forbidden.value_or(Reason::PartitionDown), detail);
        }
    });
    for (auto& [job, reason, detail] : to_park) {
        if (reason == Reason::BadConstraints)
            give_up_on(job);
        else
            park_here(job, reason, std::move(detail));
    }
    return found;
}

Search Pass::search_for(const Entry& entry, const Job& job) const {
    const Planner& planner = scheduler_.planner;
    PlanTime from = planner.tick(now_);
    PlanTime length = length_in(entry.reservation, planner, from, length_of(*entry.job_class));
    return {.need = entry.in->need,
            .nodes = entry.nodes ? *entry.nodes : entry.in->need.partition->nodes,
            .from = from,
            .length = length,
            .options = select_options(cluster_, now_, entry.in->need, job),
            .detail = depends_on_detail(entry.in->need) ? &detail_ : nullptr};
}

std::vector<NodeIndex> nodes_in(const Choice& choice) {
    std::vector<NodeIndex> nodes;
    for (const Chosen& chosen : choice) nodes.push_back(chosen.node);
    return nodes;
}

bool Pass::start(Entry& entry, JobId id, const Choice& choice, std::optional<TimeLimit> shortened) {
    const Planner& planner = scheduler_.planner;
    PlanTime from = planner.tick(now_);
    PlanTime length = length_of(shortened.value_or(entry.job_class->time_limit));
    Time until = planner.time(end_of(from, length_in(entry.reservation, planner, from, length)));
    BarredCpus barred = cpus_barred(cluster_, now_, until, entry.reservation, choice);
    std::optional<Allocation> allocation = allocate(cluster_, entry.in->need, choice, barred);
    if (!allocation ||
        is_limited(entry, cluster_.job(id), {tres_of(*allocation), nodes_in(choice)}))
        return false;
    suspend_for_allocation(cluster_, now_, *allocation, effects_);
    StartTerms terms{.allocation = *std::move(allocation),
                     .partition = cluster_.partitions()[entry.in->partition].config.name,
                     .reservation = entry.reservation ? entry.reservation->name : "",
                     .shortened = shortened,
                     .overtakes = overtakes(entry)};
    if (terms.overtakes) ++cluster_.tally().backfilled;
    start_job(cluster_, now_, id, std::move(terms), effects_);
    for (const Chosen& chosen : choice) scheduler_.planner.refresh(cluster_, chosen.node, now_);
    scheduler_.making_room.erase(id.value);
    return true;
}

// Whether a job of a higher priority waits for nodes of the same partition.
bool Pass::overtakes(const Entry& entry) const {
    const std::optional<JobId>& first = first_blocked_[entry.in->partition];
    return first && !entry.reservation && !waits_in_vain(*first);
}

void Pass::park_here(JobId id, Reason reason, std::string detail) {
    park(cluster_, id, reason, std::move(detail));
    std::shared_ptr<const PlanView> before = cluster_.plan();
    if (comes_in_time(reason) && (!before || !before->find(id))) has_new_parked_ = true;
}

// Whether limits that do not depend on the placement allow it to run.
bool Pass::may_run(const Job& job) {
    if (array_limit_reached(cluster_, job)) {
        park_here(job.id, Reason::JobArrayTaskLimit, {});
        return false;
    }
    if (auto reason = licenses_missing(cluster_, job, now_)) {
        park_here(job.id, *reason, {});
        return false;
    }
    if (!is_alone_still(cluster_, job)) {
        dequeue(cluster_, job);
        const Edit<Job> waiting = cluster_.edit_job(job.id);
        waiting->dependency.left = {
            {.kind = DependencyKind::Singleton, .job = JobId{}, .task = {}, .due = {}}};
        waiting->reason = Reason::Dependency;
        return false;
    }
    return true;
}

bool Pass::is_limited(Entry& entry, const Job& job, const Holding& held) {
    Allowance allowed = allowance(cluster_, job, *entry.in->need.partition, now_, held);
    entry.allowed = allowed.jobs;
    if (allowed.jobs > 0) return false;
    if (scheduler_.planner.find_booking(job.id)) return true;
    if (allowed.changes_with_time) cluster_.add_timer({next_minute(now_), TimerKind::Plan, 0});
    Obstacle& obstacle = entry.job_class->obstacle;
    has_new_parked_ = has_new_parked_ || !obstacle.is_limit;
    obstacle = {.reason = allowed.reason, .is_limit = true};
    return true;
}

bool Pass::may_book(const Entry& entry) const {
    if (entry.booked >= entry.allowed) return false;
    // A job for which others are preempted may be booked whatever the limits of backfill.
    if (entry.booked == 0 && scheduler_.is_being_made_room_for(cluster_, entry.key.job))
        return true;
    const BackfillSettings& backfill = cluster_.settings().backfill;
    if (!backfill.enabled) return false;
    if (!may_reserve(cluster_, cluster_.job(entry.key.job), entry.in->need.partition->config))
        return false;
    if (backfill.max_job_test > 0 && booked_ >= backfill.max_job_test) return false;
    if (backfill.max_job_part > 0 && booked_in_[entry.in->partition] >= backfill.max_job_part)
        return false;
    auto of_user = booked_of_.find(cluster_.job(entry.key.job).user.value);
    if (backfill.max_job_user > 0 && of_user != booked_of_.end() &&
        of_user->second >= backfill.max_job_user)
        return false;
    return entry.booked == 0 ||
           (entry.booked < kBookingsPerClass && steps_for_more_ < kStepsForMore);
}

// Books the job's earliest start; returns whether there is one.
bool Pass::book(Entry& entry, const Job& job) {
    Planner& planner = scheduler_.planner;
    planner.open_reservation(cluster_, entry.reservation, now_, may_delay_others(job));
    Search search = search_for(entry, job);
    search.from = std::max(search.from + 1, entry.last_start);
    bool has_others = entry.job_class->needs.size() > 1 || !entry.job_class->reservations.empty();
    auto elsewhere = has_others ? planner.find_booking(job.id) : std::nullopt;
    if (elsewhere) planner.hide(*elsewhere);
    std::uint64_t before = finder_.steps;
    Start start = finder_.find(search, &entry.shortlist);
    if (entry.booked > 0) steps_for_more_ += finder_.steps - before;
    if (elsewhere) {
        if (start.nodes.empty() || planner.booking(*elsewhere).start <= start.at) {
            planner.show(*elsewhere);
            ++entry.booked;  // counted, so that has_more_tasks() ends
            return true;
        }
        planner.drop_hidden(*elsewhere);
    }
    Seconds window = cluster_.settings().backfill.window;
    if (start.nodes.empty() && entry.booked == 0) note_no_start(entry, job);
    bool ends_first = entry.reservation && !entry.reservation->has(kResvFlex) &&
                      planner.time(start.at) >= entry.reservation->end;
    if (ends_first || start.nodes.empty() ||
        (window.count() > 0 && Seconds{start.at - planner.tick(now_)} > window))
        return false;
    entry.last_start = start.at;
    ++entry.booked;
    ++booked_;
    if (!scheduler_.last_booked || scheduler_.last_booked->comes_before(entry.tier, entry.key)) {
        scheduler_.last_booked = {entry.tier, entry.key};
    }
    ++booked_in_[entry.in->partition];
    ++booked_of_[job.user.value];
    planner.book({job.id, entry.in->partition, start.at, end_of(start.at, search.length),
                  std::move(start.nodes)});
    return true;
}

Choice Pass::at_once(Entry& entry, const Search& search) {
    if (!finder_.is_single(search)) return finder_.at_once(search);
    Start start = finder_.find(search, &entry.shortlist);
    return start.at == search.from ? std::move(start.nodes) : Choice{};
}

// --time-min: with the longest limit that fits now, to the minute.
bool Pass::start_shortened(Entry& entry, JobId id) {
    const auto& least = entry.job_class->sample->time_min;
    if (!least || least->unlimited()) return false;
    Search search = search_for(entry, cluster_.job(id));
    auto choice_for = [&](PlanTime length) {
        return finder_.at_once(
            {search.need, search.nodes, search.from, length, search.options, false, search.detail});
    };
    PlanTime fits = static_cast<PlanTime>(least->length().count()), too_long = search.length;
    Choice choice = fits < too_long ? choice_for(fits) : Choice{};
    if (choice.empty()) return false;
    while (too_long - fits > 60) {
        PlanTime middle = fits + (too_long - fits) / 2;
        Choice better = choice_for(middle);
        if (better.empty()) {
            too_long = middle;
        } else {
            fits = middle;
            choice = std::move(better);
        }
    }
    return start(entry, id, choice, TimeLimit{Seconds{fits}});
}

Pass::Outcome Pass::try_start(Entry& entry, JobId id) {
    std::shared_ptr<const Job> job = cluster_.find_job(id);
    if (!may_run(*job)) return Outcome::Skipped;
    if (is_limited(entry, *job)) return Outcome::Limited;
    scheduler_.planner.open_reservation(cluster_, entry.reservation, now_, may_delay_others(*job));
    if (entry.booked == 0) {
        Planner& planner = scheduler_.planner;
        auto own = planner.find_booking(id);
        if (own) planner.hide(*own);
        Choice choice = at_once(entry, search_for(entry, *job));
        bool started = !choice.empty() && start(entry, id, choice);
        started = started || start_shortened(entry, id) || start_shared(entry, id);
        if (own && started)
            planner.drop_hidden(*own);
        else if (own)
            planner.show(*own);
        if (started) return Outcome::Started;
        if (entry.allowed == 0) return Outcome::Limited;
    }
    note_blocked(entry, id);
    return Outcome::Blocked;
}

bool Pass::comes_first(const Entry& a, const Entry& b) {
    if (a.tier != b.tier) return a.tier > b.tier;
    if (a.is_awaited != b.is_awaited) return a.is_awaited;
    if (a.key < b.key || b.key < a.key) return a.key < b.key;
    if (a.in->partition != b.in->partition) return a.in->partition < b.in->partition;
    if (!a.reservation || !b.reservation) return a.reservation && !b.reservation;
    return a.reservation->number < b.reservation->number;
}

// Moves to the next job of the class; returns whether there is one.
bool Pass::advance(Entry& entry) const {
    const std::set<QueueKey>& waiting = entry.job_class->waiting;
    auto next = entry.stays ? waiting.lower_bound(entry.key) : waiting.upper_bound(entry.key);
    entry.stays = entry.is_awaited = false;
    if (next == waiting.end()) return false;
    entry.key = *next;
    return true;
}

void Pass::run_full(const std::vector<NodeIndex>& touched) {
    is_full_ = true;
    scheduler_.planner.begin_anew(cluster_, now_, touched);
    scheduler_.last_booked.reset();
    std::vector<Entry> all = entries();
    std::vector<Entry*> heap;
    for (Entry& entry : all) heap.push_back(&entry);
    auto later = [](const Entry* a, const Entry* b) { return comes_first(*b, *a); };
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        Entry& entry = *heap.back();
        bool goes_on = !stopped_[entry.in->partition];
        if (goes_on && entry.job_class->waiting.contains(entry.key)) {
            JobId id = entry.key.job;
            Outcome outcome = try_start(entry, id);
            ++report_.depth;
            if (outcome == Outcome::Started || outcome == Outcome::Blocked) ++report_.tried;
            if (may_preempt_for(entry, outcome) && preempt_for(entry, id))
                outcome = Outcome::Started;
            if (outcome == Outcome::Started) {
                entry.stays = true;  // an array has more of them
            } else if (outcome == Outcome::Limited) {
                goes_on = false;
            } else if (outcome == Outcome::Blocked) {
                // Later jobs of the class cannot start either; they only get bookings.
                goes_on = may_book(entry) && book(entry, cluster_.job(id));
                goes_on = goes_on && may_book(entry);
                entry.stays = goes_on && has_more_tasks(entry, cluster_.job(id));
            }
        }
        entry.job_class->is_fresh = false;
        entry.job_class->joined.reset();
        if (goes_on && advance(entry))
            std::push_heap(heap.begin(), heap.end(), later);
        else
            heap.pop_back();
    }
    scheduler_.planner.open_reservation(cluster_, nullptr, now_);
    show_no_starts();
    scheduler_.is_planned = true;
    scheduler_.planned_at = now_;
    publish(true);
    scheduler_.plan_steps = finder_.steps;
}

// A waiting array is one record: each of its tasks may have a booking.
bool Pass::has_more_tasks(const Entry& entry, const Job& job) const {
    if (!is_array_record(job)) return false;
    std::uint64_t most = job.array_limit > 0
                             ? std::min<std::uint64_t>(job.array_limit, job.array_tasks.size())
                             : job.array_tasks.size();
    return entry.booked < most;
}

// Resources that were given back may let classes at a limit start on any node.
static void look_at_limited_again(Queue& queue) {
    queue.for_each_class([](JobClass& job_class) {
        job_class.is_fresh = job_class.is_fresh || job_class.obstacle.is_limit;
    });
}

PassReport Pass::report() const {
    const std::uint32_t bookings_most = cluster_.settings().backfill.max_job_test;
    PassReport report = report_;
    report.kind = is_full_ ? PassReport::Kind::Full : PassReport::Kind::Quick;
    report.bookings = booked_;
    report.hit_max_job_test = bookings_most > 0 && booked_ >= bookings_most;
    return report;
}

// CompleteWait: while a job is completing, for as long as that, no job is started.
static std::optional<Time> end_of_complete_wait(const Cluster& cluster, Time now) {
    const Seconds length = cluster.settings().complete_wait;
    std::optional<Time> end;
    if (length == Seconds{0}) return end;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        const Node& node = cluster.node(NodeIndex{i});
        if (node.completing == 0) continue;
        for (const JobId id : node.jobs) {
            const Job& job = cluster.job(id);
            if (!is_completing(job) || !job.run.end_time) continue;
            if (*job.run.end_time + length <= now) continue;
            end = std::max(end.value_or(now), *job.run.end_time + length);
        }
    }
    return end;
}

PassReport schedule(Cluster& cluster, Time now, Effects& effects) {
    const WantedPass wanted = cluster.take_wanted_pass();
    if (wanted == WantedPass::None) return {};
    if (const auto until = end_of_complete_wait(cluster, now)) {
        cluster.want_pass();
        cluster.add_timer({*until, TimerKind::Plan, 0});
        return {};
    }
    const bool only_new_jobs = wanted == WantedPass::NewJobs;
    cluster.refresh_layout();
    regroup_queue(cluster);
    const bool has_more_room = cluster.limits().take_has_more_room();
    if (has_more_room || cluster.associations().limits_run_minutes())
        look_at_limited_again(cluster.waiting().queue());
    resume_suspended_for_cpus(cluster, now, effects);
    std::vector<NodeIndex> touched = cluster.take_touched_nodes();
    Scheduler& scheduler = cluster.scheduler();
    ++scheduler.passes;
    if (cluster.waiting().queue().empty() && cluster.waiting().parked().empty()) {
        scheduler.is_planned = false;
        scheduler.planner.lose_track();
        cluster.publish_plan(nullptr);
        return {.kind = PassReport::Kind::Quick};
    }
    Seconds rest{
        scheduler.plan_steps <= kCheapSteps ? 0 : 1 + scheduler.plan_steps / kStepsPerSecondOfRest};
    rest = std::min(rest, cluster.settings().backfill.interval);
    Pass pass(cluster, now, effects);
    bool is_due = now >= scheduler.planned_at + rest;
    bool full = !scheduler.is_planned || (is_due && !(only_new_jobs && pass.new_ones_come_last()));
    if (full) {
        pass.run_full(touched);
        return pass.report();
    }
    bool enough = pass.run_quick(touched);
    if (!is_due) cluster.add_timer({scheduler.planned_at + rest, TimerKind::Plan, 0});
    if (!is_due || enough) return pass.report();
    Pass again(cluster, now, effects);
    again.run_full({});
    return again.report();
}

}  // namespace sluice
