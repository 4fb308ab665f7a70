#include "core/limits/reservations.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/limit_book.h"
#include "core/limits/reservation_nodes.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"
#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

template <typename Item>
bool contains(const std::vector<Item>& list, const Item& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

template <typename Item>
bool allows(const std::vector<Item>& list, bool denied, const Item& item) {
    return list.empty() || contains(list, item) != denied;
}

bool in_groups(const Reservation& reservation, UserId user) {
    return reservation.groups.empty() ||
           std::any_of(reservation.groups.begin(), reservation.groups.end(),
                       [&](const GroupMembers& group) { return contains(group.users, user); });
}

// Compat: its name is removed from the job's request; a job that asked for no other one is held
// until the user or an operator releases it.
void forget_reservation(Cluster& cluster, Job& job, const Reservation& gone) {
    JobTerms terms = *job.request;
    std::vector<std::string> left;
    for (std::string_view name : split(terms.reservation, ',')) {
        if (name != gone.name) left.emplace_back(name);
    }
    terms.reservation = join(left, ",");
    job.request = cluster.shared(terms);
    if (left.empty() && !gone.has(kResvNoHoldJobs) && job.priority > 0) {
        job.priority = 0;
        job.priority_by_hand = false;
        job.reason = Reason::ReservationDeleted;
        job.reason_detail = "Reservation " + gone.name + " was deleted";
    } else if (job.reason == Reason::Reservation) {
        job.reason = Reason::None;
    }
}

// A reservation has been deleted.
void leave_behind(Cluster& cluster, Time now, JobId id, const Reservation& gone) {
    dequeue(cluster, cluster.job(id));
    forget_reservation(cluster, *cluster.edit_job(id), gone);
    cluster.jobs_changed_state(id);
    enqueue(cluster, cluster.job(id), now);
}

template <typename Wanted>
std::vector<JobId> jobs_that(const Cluster& cluster, Wanted wanted) {
    std::vector<JobId> found;
    cluster.jobs().for_each([&](const Job& job) {
        if (wanted(job)) found.push_back(job.id);
    });
    return found;
}

// Jobs of a reservation that has ended may run for ResvOverRun more; their time limit no longer
// counts.
void end_jobs_of(Cluster& cluster, Time now, const Reservation& over, Effects& effects) {
    if (over.has(kResvFlex)) return;
    Seconds rest = cluster.settings().resv_over_run;
    auto running = jobs_that(
        cluster, [&](const Job& job) { return is_live(job) && job.run.reservation == over.name; });
    for (JobId id : running) {
        if (rest.count() == 0) {
            end_running(cluster, now, id, KillReason::TimeLimit, effects);
            continue;
        }
        const Job& job = cluster.job(id);
        TimeLimit limit{now + rest - *job.run.start_time - job.run.suspended};
        if (limit < job.time_limit) cluster.edit_job(id)->time_limit = limit;
        set_clocks(cluster, cluster.job(id));
        count_job(cluster, cluster.job(id));  // it uses fewer minutes
    }
}

// TIME_FLOAT: keeps the start at a fixed distance from now.
void float_on(Cluster& cluster, Time now, Reservation reservation) {
    Seconds length = reservation.end - reservation.start;
    reservation.start = now + reservation.ahead;
    reservation.end = reservation.start + length;
    cluster.put_reservation(std::move(reservation));
}

void end_reservation(Cluster& cluster, Time now, Reservation over, Effects& effects) {
    end_jobs_of(cluster, now, over, effects);
    if (over.has(kResvRepeats)) {
        Seconds length = over.end - over.start;
        while (over.end <= now) {
            over.start = next_occurrence(over.start, over.flags);
            over.end = over.start + length;
        }
        cluster.put_reservation(std::move(over));
        return;
    }
    cluster.drop_reservation(over.name);
    auto waiting = jobs_that(cluster, [&](const Job& job) {
        return job.state == JobState::Pending && names_reservation(*job.request, over.name);
    });
    for (JobId id : waiting) leave_behind(cluster, now, id, over);
}

constexpr Seconds kPurgeCheck{60};  // ended jobs are kept for longer than this

// PURGE_COMP: deletes a reservation that no job uses.
void purge_if_unused(Cluster& cluster, Time now, const Reservation& reservation) {
    if (!reservation.purge_after || now < reservation.start) return;
    Time last = std::max(reservation.last_used, reservation.start);
    bool in_use = false;
    cluster.jobs().for_each([&](const Job& job) {
        if (!uses(job, reservation)) return;
        if (!is_finished(job.state) || is_completing(job))
            in_use = true;
        else
            last = std::max(last, *job.run.end_time);
    });
    if (in_use) last = now;
    if (!in_use && now >= last + *reservation.purge_after) {
        cluster.drop_reservation(reservation.name);
    } else if (last != reservation.last_used) {
        Reservation changed = reservation;
        changed.last_used = last;
        cluster.put_reservation(std::move(changed));
    }
}

constexpr Seconds kFloatStep{60};     // how often a floating start is moved
constexpr Seconds kReplaceAgain{30};  // lost nodes could not be replaced: try again

// One timer for all of them: the next time at which something happens.
void watch(Cluster& cluster, Time now) {
    std::optional<Time> next;
    for (const Reservation& each : cluster.reservations()) {
        Time due = each.start > now ? each.start : each.end;
        next = next ? std::min(*next, due) : due;
        if (each.purge_after && each.start <= now) next = std::min(*next, now + kPurgeCheck);
        if (each.has(kResvTimeFloat)) next = std::min(*next, now + kFloatStep);
        if (!nodes_to_replace(cluster, each).empty()) next = std::min(*next, now + kReplaceAgain);
    }
    if (next) cluster.add_timer({*next, TimerKind::Reservation, 0});
}

}  // namespace

const Reservation* find_reservation(const Cluster& cluster, std::string_view name) {
    return cluster.reservation_table().find(name);
}

bool names_reservation(const JobTerms& demand, const std::string& name) {
    if (demand.reservation.empty()) return false;
    std::vector<std::string_view> names = split(demand.reservation, ',');
    return contains(names, std::string_view(name));
}

bool is_open_to(const Reservation& reservation, UserId user) {
    return allows(reservation.users, reservation.users_denied, user) &&
           in_groups(reservation, user);
}

bool may_use(const Reservation& reservation, UserId user, const JobTerms& demand) {
    return is_open_to(reservation, user) &&
           allows(reservation.accounts, reservation.accounts_denied, demand.account) &&
           allows(reservation.qos, reservation.qos_denied, demand.qos);
}

bool takes_jobs_of(const Reservation& reservation, const std::string& partition) {
    return allows(reservation.allowed_partitions, reservation.partitions_denied, partition);
}

static bool takes_any_partition_of(const Cluster& cluster, const Reservation& reservation,
                                   const JobTerms& demand) {
    if (reservation.allowed_partitions.empty()) return true;
    const Partition* usual = cluster.default_partition();
    if (demand.partition.empty()) return usual && takes_jobs_of(reservation, usual->config.name);
    std::vector<std::string_view> names = split(demand.partition, ',');
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return takes_jobs_of(reservation, std::string(name));
    });
}

// Named nodes must be in the reservation; a list that does not parse is refused elsewhere.
static bool has_named_nodes(const Cluster& cluster, const Reservation& reservation,
                            const Shape& shape) {
    if (shape.nodelist.empty()) return true;
    Result<Hostlist> named = Hostlist::parse(shape.nodelist);
    std::vector<std::string> names = named ? named->names() : std::vector<std::string>{};
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        std::optional<NodeIndex> node = cluster.find_node(name);
        return node && reservation.has_node(*node);
    });
}

Result<void> check_reservations(const Cluster& cluster, UserId user, const JobTerms& demand) {
    if (demand.reservation.empty()) return {};
    bool large_enough = false;
    for (std::string_view name : split(demand.reservation, ',')) {
        const Reservation* reservation = find_reservation(cluster, name);
        if (!reservation) return Error{ErrorCode::InvalidReservation, {}};
        bool allowed = may_use(*reservation, user, demand) &&
                       takes_any_partition_of(cluster, *reservation, demand);
        if (!allowed) return Error{ErrorCode::ReservationAccess, {}};
        large_enough = large_enough || reservation->has(kResvFlex | kResvAnyNodes | kResvReplace) ||
                       (demand.shape.nodes_min <= reservation->nodes.size() &&
                        has_named_nodes(cluster, *reservation, demand.shape));
    }
    if (!large_enough) return Error{ErrorCode::NodeConfigUnavailable, {}};
    return {};
}

bool uses(const Job& job, const Reservation& reservation) {
    if (job.state == JobState::Pending) return names_reservation(*job.request, reservation.name);
    return job.run.reservation == reservation.name;
}

std::vector<const Reservation*> reservations_wanted(const Cluster& cluster,
                                                    const JobTerms& demand) {
    std::vector<const Reservation*> found;
    if (demand.reservation.empty()) return found;
    for (std::string_view name : split(demand.reservation, ',')) {
        if (const Reservation* reservation = find_reservation(cluster, name))
            found.push_back(reservation);
    }
    return found;
}

std::string usable_reservations(const Cluster& cluster, const Job& job) {
    if (cluster.reservations().empty()) return {};
    std::vector<std::string> names;
    const JobTerms& demand = *job.request;
    for (const Reservation& each : cluster.reservations()) {
        bool wanted = demand.reservation.empty() ? each.has(kResvMagnetic)
                                                 : names_reservation(demand, each.name);
        if (wanted && may_use(each, job.user, demand)) names.push_back(each.name);
    }
    return join(names, ",");
}

bool is_open(const Reservation& reservation, Time now) {
    return reservation.has(kResvFlex) || reservation.is_active(now);
}

std::optional<Time> reserved_until(const Cluster& cluster, const Job& job) {
    if (job.run.reservation.empty()) return {};
    const Reservation* reservation = find_reservation(cluster, job.run.reservation);
    if (!reservation || reservation->has(kResvFlex)) return {};
    return reservation->end + cluster.settings().resv_over_run;
}

std::vector<Interval> intervals_of(const Reservation& reservation) {
    constexpr std::size_t kOccurrences = 16;
    std::vector<Interval> found{{reservation.start, reservation.end}};
    if (!reservation.has(kResvRepeats)) return found;
    Seconds length = reservation.end - reservation.start;
    while (found.size() < kOccurrences) {
        Time start = next_occurrence(found.back().start, reservation.flags);
        found.push_back({start, start + length});
    }
    return found;
}

bool meet_in_time(const Reservation& a, const Reservation& b) {
    std::vector<Interval> others = intervals_of(b);
    for (const Interval& one : intervals_of(a)) {
        for (const Interval& other : others) {
            if (one.start < other.end && other.start < one.end) return true;
        }
    }
    return false;
}

void reservations_have_changed(Cluster& cluster, Time now) {
    std::vector<JobId> waiting;
    cluster.waiting().parked().for_each([&](JobId id) {
        if (cluster.job(id).reason == Reason::Reservation) waiting.push_back(id);
    });
    // Queued jobs whose set of usable reservations has changed, also magnetic ones.
    bool attracts = std::any_of(cluster.reservations().begin(), cluster.reservations().end(),
                                [](const Reservation& each) { return each.has(kResvMagnetic); });
    cluster.waiting().queue().for_each_class([&](const JobClass& job_class) {
        if (!attracts && job_class.reservations.empty() && job_class.sample->reservation.empty())
            return;
        for (const QueueKey& key : job_class.waiting) {
            if (usable_reservations(cluster, cluster.job(key.job)) != job_class.reservations)
                waiting.push_back(key.job);
        }
    });
    const std::set<JobId>& for_licenses = cluster.waiting().parked().for_licenses();
    waiting.insert(waiting.end(), for_licenses.begin(), for_licenses.end());  // were reserved
    for (JobId id : waiting) {
        dequeue(cluster, cluster.job(id));
        enqueue(cluster, cluster.job(id), now);
    }
    cluster.scheduler().is_planned = false;
    cluster.want_pass();
    watch(cluster, now);
}

void leave_lost_reservations(Cluster& cluster, Time now, JobId id) {
    const std::string asked = cluster.job(id).request->reservation;
    for (std::string_view name : split(asked, ',')) {
        Reservation gone;
        gone.name = name;
        if (!name.empty() && !find_reservation(cluster, name)) leave_behind(cluster, now, id, gone);
    }
}

void look_after_reservations(Cluster& cluster, Time now) {
    if (!cluster.reservations().empty()) cluster.add_timer({now, TimerKind::Reservation, 0});
}

void on_reservation_timer(Cluster& cluster, Time now, Effects& effects) {
    std::vector<Reservation> all = cluster.reservations();  // a copy: the loop deletes some
    for (const Reservation& each : all) {
        if (each.has(kResvTimeFloat))
            float_on(cluster, now, each);
        else if (each.end <= now)
            end_reservation(cluster, now, each, effects);
        else
            purge_if_unused(cluster, now, each);
    }
    replace_lost_nodes(cluster, now);
    reservations_have_changed(cluster, now);
}

void resolve_nodes(const Cluster& cluster, Reservation& reservation) {
    reservation.nodes.clear();
    std::vector<std::string> names = Hostlist::parse(reservation.node_names).value().names();
    const Partition* partition = cluster.find_partition(reservation.partition);
    if (reservation.has(kResvPartNodes) && partition) {
        names.clear();
        for (NodeIndex node : partition->nodes) names.push_back(cluster.node(node).config.name);
    }
    for (const std::string& name : names) {
        if (auto node = cluster.find_node(name)) reservation.nodes.push_back(*node);
    }
    std::sort(reservation.nodes.begin(), reservation.nodes.end());
}

}  // namespace sluice
