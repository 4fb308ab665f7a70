#include "core/schedule/planner.h"

#include <algorithm>
#include <utility>

#include "core/cluster.h"
#include "core/job/preempt.h"
#include "core/job/verbs.h"
#include "core/limits/reservation_nodes.h"
#include "core/limits/reservations.h"
#include "core/place/pools.h"
#include "core/place/use.h"
#include "core/schedule/scheduler.h"

namespace sluice {

Time expected_end(const Cluster& cluster, const Job& job, Time now) {
    // It is ending, or its time limit has passed.
    Time soon = now + Seconds{1};
    if (is_completing(job) || is_finished(job.state)) return soon;
    if (job.run.preempt_time)
        return std::max(soon, *job.run.preempt_time + preempt_rule(cluster, job).grace);
    constexpr Seconds kYear{365 * 24 *
                            3600};  // Compat: what a job without a limit is taken to last
    Time end = *job.run.start_time + kYear;
    if (!job.time_limit.unlimited()) end = end_by_limit(cluster, job);
    end += boot_time_left(cluster, job);
    return std::max(soon, std::min(end, reserved_until(cluster, job).value_or(end)));
}

Seconds longest_run(const Job& job) {
    return job.time_limit.unlimited() ? kReservationLongest : job.time_limit.length();
}

void Planner::reset(const Cluster& cluster, Time now) {
    std::size_t nodes = cluster.node_count();
    plan_.restart(now, nodes);
    bookings_.clear();
    of_job_.clear();
    on_node_.resize(nodes);
    for (auto& numbers : on_node_) numbers.clear();
    owners_.assign(nodes, {});
    fences_.clear();
    fences_on_node_.clear();
    open_fence_.reset();
    delays_ = false;
    if (!cluster.reservations().empty()) fences_on_node_.resize(nodes);
    for (const Reservation& reservation : cluster.reservations()) {
        auto number = static_cast<std::uint32_t>(fences_.size());
        for (NodeIndex node : reservation.nodes) fences_on_node_[node.value].push_back(number);
        Fence fence{reservation.name, reservation.has(kResvMaint), reservation.nodes, {}, {}};
        fence.caps = !reservation.has(kResvFlex | kResvAnyNodes);
        for (NodeIndex node : reservation.nodes) {
            if (reservation.cores.empty()) break;
            const NodeConfig& config = cluster.node(node).config;
            std::uint32_t all = std::max(1u, cores_in(config));
            fence.cpus.push_back(static_cast<std::int32_t>(reservation.cores_of(config.name, all) *
                                                           (config.cpus / all)));
        }
        for (const Interval& each : intervals_of(reservation)) {
            if (each.start < each.end) fence.times.emplace_back(tick(each.start), tick(each.end));
        }
        if (reservation.max_start_delay) fence.late_times = late_times_of(reservation, now);
        fences_.push_back(std::move(fence));
    }
    restless_.clear();
    for (std::uint32_t i = 0; i < nodes; ++i) refresh(cluster, NodeIndex{i}, now);
    is_whole_ = true;
    layout_version_ = cluster.scheduler().layout_version;
}

// A job that starts before the reservation may overlap its beginning by this much.
std::vector<std::pair<PlanTime, PlanTime>> Planner::late_times_of(const Reservation& reservation,
                                                                  Time now) const {
    std::vector<std::pair<PlanTime, PlanTime>> times;
    for (const Interval& each : intervals_of(reservation)) {
        const Time delayed = each.start + *reservation.max_start_delay;
        const Time from = each.start > now ? std::min(delayed, each.end) : each.start;
        if (from < each.end) times.emplace_back(tick(from), tick(each.end));
    }
    return times;
}

void Planner::begin_anew(const Cluster& cluster, Time now, const std::vector<NodeIndex>& touched) {
    bool fenced = !fences_.empty() || !cluster.reservations().empty();
    if (!is_whole_ || fenced || layout_version_ != cluster.scheduler().layout_version) {
        reset(cluster, now);
        return;
    }
    std::set<NodeIndex> changed = std::exchange(restless_, {});
    changed.insert(touched.begin(), touched.end());
    for (const Booking& booking : bookings_) {
        for (const Chosen& chosen : booking.nodes) {
            if (on_node_[chosen.node.value].empty()) continue;  // seen in another booking
            on_node_[chosen.node.value].clear();
            changed.insert(chosen.node);
        }
    }
    bookings_.clear();
    of_job_.clear();
    for (NodeIndex node : changed) refresh(cluster, node, now);
}

// Where jobs share CPUs or take turns on them, each CPU counts once, until the latest end of its
// jobs.
void Planner::take_running(const Cluster& cluster, const Node& node, Time now) {
    struct Holder {
        PlanTime end;
        const Job* job;
        bool without_cpus;
    };
    const NodeKind& kind = cluster.scheduler().layout.kind(node.index);
    std::vector<Holder> holders;
    for (JobId id : node.jobs) {
        const Job& job = cluster.job(id);
        auto hidden = hidden_jobs_.find(id);
        if (hidden != hidden_jobs_.end() && hidden->second == Hide::All) continue;
        bool without_cpus =
            hidden != hidden_jobs_.end() || (job.run.cpus_lent && !job.run.awaits_cpus);
        holders.push_back({tick(expected_end(cluster, job, now)), &job, without_cpus});
    }
    bool alternating = has_alternating(cluster, node);
    std::vector<bool> counted(alternating ? node.cpu_used.size() : 0);
    if (alternating) {
        std::sort(holders.begin(), holders.end(),
                  [](const Holder& a, const Holder& b) { return a.end > b.end; });
    }
    Owner& owner = owners_[node.index.value];
    bool somebody_is_late = std::any_of(holders.begin(), holders.end(), [&](const Holder& holder) {
        return holder.end <= tick(now) + 1;
    });
    if (somebody_is_late) restless_.insert(node.index);
    for (const Holder& holder : holders) {
        owner.until = std::max(owner.until, holder.end);
        const NodeShare& share = *holder.job->run.allocation->find(node.index);
        Amounts held = kind.amounts_of(share, holder.job->partition);
        if (holder.without_cpus) held[Amounts::kCpus] = 0;
        if (node.exclusive) held[Amounts::kCpus] = kind.total[Amounts::kCpus];
        for (std::uint32_t cpu :
             alternating && !holder.without_cpus ? share.cpus : std::vector<std::uint32_t>{}) {
            if (counted[cpu]) --held[Amounts::kCpus];
            counted[cpu] = true;
        }
        plan_.take(node.index, held, 0, holder.end);
    }
}

// GPUs that are out of service. One that a job still holds is taken when the job has ended.
void Planner::take_drained(const Cluster& cluster, const Node& node) {
    if (node.drained_gpus.empty()) return;
    const NodeKind& kind = cluster.scheduler().layout.kind(node.index);
    Amounts gone{};
    for (const GresPool& pool : node.gres) {
        if (const std::uint64_t count = count_drained(pool); count > 0)
            kind.add_gres(gone, pool.name, pool.type, count);
    }
    plan_.take(node.index, gone, 0, kForever);
}

void Planner::refresh(const Cluster& cluster, NodeIndex index, Time now) {
    const Node& node = cluster.node(index);
    owners_[index.value] = {};
    if (!may_take_jobs(node)) {
        plan_.close(index);
        return;
    }
    const NodeKind& kind = cluster.scheduler().layout.kind(index);
    plan_.set_free(index, kind.total);
    take_drained(cluster, node);
    if (node.exclusive_user) owners_[index.value].user = node.exclusive_user;
    take_running(cluster, node, now);
    for (Number number : on_node_[index.value]) {
        const Booking& booking = bookings_[number];
        if (booking.hidden) continue;
        for (const Chosen& chosen : booking.nodes) {
            if (chosen.node == index) plan_.take(index, chosen.take, booking.start, booking.end);
        }
    }
    if (fences_on_node_.empty()) return;
    for (std::uint32_t number : fences_on_node_[index.value]) {
        if (!fences_[number].cpus.empty()) {
            fence_in(cluster, index, number, now);
            continue;
        }
        if (!is_up(fences_[number], index)) continue;
        for (const auto& [from, until] : times_of(fences_[number]))
            plan_.take(index, kind.total, from, until);
    }
}

// The reservation has some CPUs of the node. If it is open, takes the CPUs outside it from the
// plan, else its own. CPUs that jobs of the other side use or have booked are in the plan already
// and are not counted twice.
void Planner::fence_in(const Cluster& cluster, NodeIndex index, std::uint32_t number, Time now) {
    const Fence& fence = fences_[number];
    bool inside = open_fence_ == number;
    if (inside ? !fence.caps : !is_up(fence, index)) return;
    std::int32_t total = cluster.scheduler().layout.kind(index).total[Amounts::kCpus];
    auto place =
        std::lower_bound(fence.nodes.begin(), fence.nodes.end(), index) - fence.nodes.begin();
    std::int32_t others = std::min(fence.cpus[static_cast<std::size_t>(place)], total);
    if (inside) others = total - others;
    std::vector<Use> uses = uses_by(cluster, index, fence.name, !inside, now);
    for (const auto& [from, until] : times_of(fence)) {
        plan_.take(index, Amounts::cpus_only(others), from, until);
        std::set<PlanTime> marks{from, until};
        for (const Use& use : uses) {
            marks.insert(std::clamp(use.from, from, until));
            marks.insert(std::clamp(use.until, from, until));
        }
        for (auto mark = marks.begin(); std::next(mark) != marks.end(); ++mark) {
            std::int32_t used = 0;
            for (const Use& use : uses)
                used += use.from <= *mark && *mark < use.until ? use.cpus : 0;
            if (used > 0)
                plan_.give(index, Amounts::cpus_only(std::min(used, others)), *mark,
                           *std::next(mark));
        }
    }
}

// What jobs of the reservation, or all other jobs, hold or have booked on the node.
std::vector<Planner::Use> Planner::uses_by(const Cluster& cluster, NodeIndex index,
                                           const std::string& reservation, bool its_own,
                                           Time now) const {
    std::vector<Use> uses;
    for (JobId id : cluster.node(index).jobs) {
        const Job& job = cluster.job(id);
        if ((job.run.reservation == reservation) != its_own || hidden_jobs_.contains(id) ||
            job.run.cpus_lent)
            continue;
        auto cpus = static_cast<std::int32_t>(job.run.allocation->find(index)->cpus.size());
        uses.push_back({0, tick(expected_end(cluster, job, now)), cpus});
    }
    for (Number number : on_node_[index.value]) {
        const Booking& booking = bookings_[number];
        auto job = cluster.find_job(booking.job);
        if (!job || booking.hidden || names_reservation(*job->request, reservation) != its_own)
            continue;
        for (const Chosen& chosen : booking.nodes) {
            if (chosen.node == index)
                uses.push_back({booking.start, booking.end, chosen.take[Amounts::kCpus]});
        }
    }
    return uses;
}

// Jobs of a reservation ignore others that overlap it, except those for maintenance.
bool Planner::is_up(const Fence& fence, NodeIndex node) const {
    if (!open_fence_) return true;
    const Fence& open = fences_[*open_fence_];
    if (&open == &fence) return false;
    return fence.maintenance || !std::binary_search(open.nodes.begin(), open.nodes.end(), node);
}

void Planner::open_reservation(const Cluster& cluster, const Reservation* reservation, Time now,
                               bool delays) {
    if (std::exchange(delays_, delays) != delays) {
        for (const Fence& fence : fences_) {
            if (!fence.late_times) continue;
            for (NodeIndex node : fence.nodes) refresh(cluster, node, now);
        }
    }
    std::optional<std::uint32_t> wanted;
    for (std::uint32_t i = 0; reservation && i < fences_.size(); ++i) {
        if (fences_[i].name == reservation->name) wanted = i;
    }
    if (wanted == open_fence_) return;
    auto before = std::exchange(open_fence_, wanted);
    for (auto number : {before, wanted}) {
        if (!number) continue;
        for (NodeIndex node : fences_[*number].nodes) refresh(cluster, node, now);
    }
}

Planner::Kept Planner::kept(NodeIndex node, PlanTime from, PlanTime until) const {
    Kept found = Kept::No;
    if (fences_on_node_.empty()) return found;
    for (std::uint32_t number : fences_on_node_[node.value]) {
        const Fence& fence = fences_[number];
        if (!is_up(fence, node) || !fence.cpus.empty()) continue;  // of cores: see fence_in()
        for (const auto& [start, end] : times_of(fence)) {
            if (start >= until || end <= from) continue;
            if (fence.maintenance) return Kept::ForMaintenance;
            found = Kept::ForOthers;
        }
    }
    return found;
}

void Planner::book(Booking booking) {
    auto number = static_cast<Number>(bookings_.size());
    for (const Chosen& chosen : booking.nodes) on_node_[chosen.node.value].push_back(number);
    std::vector<Number>& others = of_job_[booking.job.value];
    others.insert(others.begin(), number);
    bookings_.push_back(std::move(booking));
    show(number);
}

std::optional<Planner::Number> Planner::find_booking(JobId job) const {
    auto found = of_job_.find(job.value);
    return found == of_job_.end() ? std::nullopt : std::optional(found->second.back());
}

void Planner::hide(Number number) {
    Booking& booking = bookings_[number];
    booking.hidden = true;
    for (const Chosen& chosen : booking.nodes)
        plan_.give(chosen.node, chosen.take, booking.start, booking.end);
}

void Planner::show(Number number) {
    Booking& booking = bookings_[number];
    booking.hidden = false;
    for (const Chosen& chosen : booking.nodes)
        plan_.take(chosen.node, chosen.take, booking.start, booking.end);
}

void Planner::add_cpus(NodeIndex node, std::uint32_t cpus, PlanTime from, PlanTime until) {
    plan_.give(node, Amounts::cpus_only(static_cast<std::int32_t>(cpus)), from, until);
}

void Planner::hide_job(const Cluster& cluster, const Job& job, Hide what, Time now) {
    hidden_jobs_[job.id] = what;
    for (const NodeShare& share : job.run.allocation->nodes) refresh(cluster, share.node, now);
}

void Planner::show_job(const Cluster& cluster, const Job& job, Time now) {
    hidden_jobs_.erase(job.id);
    for (const NodeShare& share : job.run.allocation->nodes) refresh(cluster, share.node, now);
}

std::vector<Planner::Number> Planner::bookings_of(JobId job) const {
    auto found = of_job_.find(job.value);
    return found == of_job_.end() ? std::vector<Number>{} : found->second;
}

void Planner::drop_hidden(Number number) {
    Booking& booking = bookings_[number];
    for (const Chosen& chosen : booking.nodes) std::erase(on_node_[chosen.node.value], number);
    booking.nodes.clear();
    auto found = of_job_.find(booking.job.value);
    std::erase(found->second, number);
    if (found->second.empty()) of_job_.erase(found);
}

}  // namespace sluice
