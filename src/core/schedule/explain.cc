// core/schedule/explain.cc: which jobs are ahead of the job, when it is expected to start, and the
// order in which obstacles are examined.
#include "core/schedule/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/reservations.h"
#include "core/place/data.h"
#include "core/place/place.h"
#include "core/query/reason.h"
#include "core/schedule/estimate.h"
#include "core/schedule/waiting.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kExplanationsMost = 64;  // of one array
constexpr std::size_t kPlacesMost = 8;
constexpr std::uint32_t kAheadMost = Explanation::kAheadMost;

std::uint32_t highest_tier(const Cluster& cluster, const Job& job) {
    std::uint32_t tier = 0;
    for (const std::string& name : partitions_of(job)) {
        if (const Partition* partition = cluster.find_partition(name)) {
            tier = std::max(tier, partition->config.priority_tier);
        }
    }
    return tier;
}

// Jobs of a reservation wait among themselves, the others outside.
bool same_reservation(const Job& job, const Job& other) {
    const std::string& mine = job.request->reservation;
    const std::string& theirs = other.request->reservation;
    if (mine.empty() || theirs.empty()) return mine.empty() == theirs.empty();
    std::vector<std::string_view> names = split(mine, ',');
    for (std::string_view name : split(theirs, ',')) {
        if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    }
    return false;
}

// Partitions, by name, whose jobs wait for some of the same nodes.
struct Rivals {
    std::set<std::string> same;   // of the same tier: jobs of higher priority come first
    std::set<std::string> above;  // all of their jobs come first
};

Rivals rivals_of(const Question& question) {
    const std::vector<Partition>& partitions = question.cluster.partitions();
    Rivals rivals;
    for (const std::string& name : partitions_of(question.job)) {
        const Partition* partition = question.cluster.find_partition(name);
        if (!partition) continue;
        rivals.same.insert(name);
        for (std::size_t i = 0; i < partitions.size(); ++i) {
            const auto& nodes = question.cluster.scheduler().layout.in_partition[i];
            bool shared = std::any_of(partition->nodes.begin(), partition->nodes.end(),
                                      [&](NodeIndex node) { return nodes[node.value]; });
            if (!shared) continue;
            const PartitionConfig& config = partitions[i].config;
            if (config.priority_tier > question.tier)
                rivals.above.insert(config.name);
            else if (config.priority_tier == question.tier)
                rivals.same.insert(config.name);
        }
    }
    return rivals;
}

// Which jobs of a class come before the one that is asked about.
enum class Precedence : std::uint8_t { None, ByPriority, All };

Precedence precedence_of(const Question& question, const Rivals& rivals, const Job& other) {
    if (!same_reservation(question.job, other)) return Precedence::None;
    Precedence found = Precedence::None;
    for (const std::string& name : partitions_of(other)) {
        if (rivals.above.contains(name)) return Precedence::All;
        if (rivals.same.contains(name)) found = Precedence::ByPriority;
    }
    return found;
}

// Jobs that come first and wait for some of the same nodes.
void add_ahead(const Question& question, Explanation& out) {
    const Cluster& cluster = question.cluster;
    const Rivals rivals = rivals_of(question);
    const QueueKey mine{cluster.priority(question.job.id), question.job.id};
    std::unordered_map<ClassIndex, Precedence> known;  // the same for all jobs of a class
    std::vector<QueueKey> first;
    auto may_wait = [](const ChunkSummary<Job>& summary) {
        return (summary.shown_states >> static_cast<unsigned>(JobState::Pending) & 1u) != 0;
    };
    cluster.jobs().for_each(may_wait, [&](const Job& job) {
        if (!cluster.waiting().queue().contains(job.id) || job.id == question.job.id) return;
        auto [entry, is_new] = known.try_emplace(job.wait_class);
        if (is_new) entry->second = precedence_of(question, rivals, job);
        const QueueKey key{cluster.priorities().of(job), job.id};
        const bool comes_first = entry->second == Precedence::All ||
                                 (entry->second == Precedence::ByPriority && key < mine);
        if (!comes_first) return;
        if (out.ahead < kAheadMost)
            out.ahead +=
                is_array_record(job) ? static_cast<std::uint32_t>(job.array_tasks.size()) : 1;
        if (first.size() == kNamedMost && !(key < first.back())) return;
        first.insert(std::upper_bound(first.begin(), first.end(), key), key);
        if (first.size() > kNamedMost) first.pop_back();
    });
    out.ahead = std::min(out.ahead, kAheadMost);
    for (const QueueKey& key : first) {
        const Job& job = cluster.job(key.job);
        if (question.viewer.sees_jobs_of(job.user)) out.first_ahead.push_back(print_job_id(job));
    }
}

// The start of its booking; without one, the estimated start.
void add_start(const Question& question, Explanation& out) {
    const Planner& planner = question.planner;
    if (auto number = planner.find_booking(question.job.id)) {
        const Booking& booking = planner.booking(*number);
        out.start = std::max(question.now, planner.time(booking.start));
        out.start_nodes = names_of(question.cluster, booking.nodes);
        return;
    }
    auto view = question.cluster.plan();
    if (const StartEstimate* estimate = view ? view->find(question.job.id) : nullptr) {
        out.start = std::max(question.now, estimate->start);
        Choice nodes;
        for (NodeIndex node : estimate->nodes) nodes.push_back({.node = node});
        out.start_nodes = names_of(question.cluster, nodes);
        return;
    }
    if (auto estimate =
            estimate_start(question.cluster, question.planner, question.now, question.job)) {
        out.start = estimate->start;
        out.start_nodes = names_of(question.cluster, estimate->nodes);
    }
}

// How many it needs, and how many the nodes have that come first in placement therefore.
void add_datasets(const Cluster& cluster, const Job& job, Tres& needs) {
    constexpr std::size_t kNodesMost = 16;
    const std::string_view stage_in = job.details->text(&JobDetails::stage_in);
    if (stage_in.empty()) return;
    needs["dataset"] = data_sources(stage_in).size();
    const std::vector<std::uint32_t> counts = datasets_on_nodes(cluster, stage_in);
    std::size_t named = 0;
    for (std::uint32_t i = 0; i < counts.size() && named < kNodesMost; ++i) {
        if (counts[i] == 0) continue;
        needs["dataset/" + cluster.node(NodeIndex{i}).config.name] = counts[i];
        ++named;
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
    if (need.exclusive == Exclusive::No && !need.shape->overcommit)
        cpus = std::max<std::uint64_t>(cpus, std::uint64_t{need.tasks} * need.shape->cpus_per_task);
    total["cpu"] = cpus;
    bool all_of_it = need.mem_per_node == Megabytes{0};
    if (need.memory_counts && !all_of_it)
        total["mem"] = std::uint64_t(each[Amounts::kMemory]) * need.nodes_min;
    for (const GresCount& demand : need.gres_per_node)
        total[tres_name(demand)] += demand.count * need.nodes_min;
    for (const GresCount& demand : need.gpus) total[tres_name(demand)] += demand.count;
    for (const GresCount& demand : need.shape->gpus_per_task)
        total[tres_name(demand)] += demand.count * need.tasks;
    return total;
}

std::vector<Spot> spots_for(const Question& question, const std::vector<const Partition*>& open) {
    std::vector<Spot> spots;
    std::string reservations = usable_reservations(question.cluster, question.job);
    bool outside = question.job.request->reservation.empty();
    for (const Partition* partition : open) {
        for (Spot& spot :
             spots_in(question.cluster, question.now, *partition, reservations, outside)) {
            if (spots.size() < kPlacesMost) spots.push_back(std::move(spot));
        }
    }
    return spots;
}

void add_room(const Question& question, const std::vector<const Partition*>& open,
              Explanation& out) {
    Planner& planner = question.planner;
    bool in_order = !question.cluster.settings().backfill.enabled && out.ahead > 0;
    if (!in_order) explain_changes(question, out);
    if (out.begin || out.room_now) return;
    // Bookings whose start time has passed are ignored: this is only a query.
    PlanTime now = planner.tick(question.now);
    HiddenBookings due(planner, planner.shown_bookings(
                                    [&](const Booking& booking) { return booking.start <= now; }));
    for (const Spot& spot : spots_for(question, open)) {
        Need need = need_of(question.cluster, question.job, *spot.partition).value();
        planner.open_reservation(question.cluster, spot.reservation, question.now,
                                 may_delay_others(question.job));
        out.places.push_back(explain_shortage(question, spot, need, out));
    }
    planner.open_reservation(question.cluster, nullptr, question.now);
}

}  // namespace

bool gives_way(const Question& question, const Booking& booking) {
    if (booking.job == question.job.id) return true;
    std::uint32_t its_tier = question.cluster.partitions()[booking.partition].config.priority_tier;
    if (its_tier != question.tier) return its_tier < question.tier;
    QueueKey mine{question.cluster.priority(question.job.id), question.job.id};
    return mine < QueueKey{question.cluster.priority(booking.job), booking.job};
}

std::string tres_name(const GresCount& demand) {
    return fmt::format("gres/{}{}{}", demand.name, demand.type.empty() ? "" : ":", demand.type);
}

Explanation::Holder holder_of(const Question& question, const Job& holder) {
    const bool is_seen = question.viewer.sees_jobs_of(holder.user);
    return {.job = is_seen ? print_job_id(holder) : "",
            .user = is_seen ? holder.user : UserId{},
            .partition = holder.partition,
            .nodes = {},
            .amounts = {},
            .waits = false,
            .start = holder.run.start_time,
            .end = expected_end(question.cluster, holder, question.now)};
}

// Reservations that the viewer may not see have no name, nodes no reason.
static void hide_names(const Question& question, Explanation& out) {
    auto hide = [&](std::string& name) {
        const Reservation* reservation = find_reservation(question.cluster, name);
        if (reservation && !question.viewer.sees(*reservation)) name.clear();
    };
    for (Explanation::LicenseShortage& license : out.licenses) {
        for (auto& kept : license.kept) hide(kept.reservation);
    }
    for (Explanation::Place& place : out.places) {
        for (auto& nodes : place.reserved) hide(nodes.reservation);
        if (question.viewer.sees_nodes()) continue;
        for (auto& nodes : place.unusable) nodes.reason.clear();
    }
}

// The planner is restored before this returns.
static Explanation explain(const Cluster& cluster, Planner& planner, Time now, JobId id,
                           const Viewer& viewer) {
    std::shared_ptr<const Job> kept = cluster.find_job(id);
    const Job& job = *kept;
    Explanation out{.job = print_job_id(job),
                    .name = std::string(job.details->name()),
                    .user = job.user,
                    .partition = job.partition,
                    .state = job.state};
    out.reason = shown_reason(job, cluster.partitions(), cluster.plan().get());
    out.reason_detail = shown_detail(job, cluster.plan().get());
    out.time_limit = job.time_limit;
    if (job.run.allocation) out.running_on = job.run.allocation->node_names;
    if (job.state != JobState::Pending) return out;

    const Scheduler& scheduler = cluster.scheduler();
    Question question{cluster, planner, now, job, highest_tier(cluster, job), viewer};
    explain_rules(question, out);
    std::vector<const Partition*> open = open_partitions(question, out);
    const std::vector<std::string> names = partitions_of(job);
    const Partition* sample =
        open.empty() ? cluster.find_partition(names.empty() ? "" : names.front()) : open.front();
    if (sample) {
        if (Result<Need> need = need_of(cluster, job, *sample))
            out.needs = total_of(*need, scheduler.layout);
    }
    add_datasets(cluster, job, out.needs);
    if (!job.dependency.empty()) {
        hide_names(question, out);
        return out;
    }
    if (cluster.waiting().queue().contains(id)) add_ahead(question, out);
    const bool is_foretold = cluster.plan() && cluster.plan()->find(id);
    if (out.hold == Reason::None && (!open.empty() || is_foretold)) add_start(question, out);
    add_room(question, open, out);
    hide_names(question, out);
    return out;
}

Explanation explain(const Cluster& cluster, Time now, JobId id, const Viewer& viewer) {
    Planner planner = scratch_planner(cluster, now);
    return explain(cluster, planner, now, id, viewer);
}

Answer explain_jobs(const Cluster& cluster, Time now, const ExplainJob& question) {
    const Viewer viewer(cluster.settings(), question.caller.user,
                        cluster.associations().admin_level(question.caller.user));
    std::vector<JobId> jobs = find_jobs(cluster, question.job);
    std::erase_if(jobs, [&](JobId id) { return !viewer.sees_jobs_of(cluster.job(id).user); });
    if (jobs.empty()) return Error{ErrorCode::InvalidJobId, {}};
    // Of an array, the waiting tasks; if none waits, one task that says so.
    std::stable_partition(jobs.begin(), jobs.end(),
                          [&](JobId id) { return cluster.job(id).state == JobState::Pending; });
    Planner planner = scratch_planner(cluster, now);
    std::vector<Explanation> answer;
    for (JobId id : jobs) {
        if (!answer.empty() &&
            (cluster.job(id).state != JobState::Pending || answer.size() >= kExplanationsMost))
            break;
        answer.push_back(explain(cluster, planner, now, id, viewer));
    }
    return answer;
}

}  // namespace sluice
