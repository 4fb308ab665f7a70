// core/schedule/blocked.cc
//
// The reason that a job without a placement shows: whether it is first in line, reservations keep
// the nodes from it, or it cannot start at all at present.
#include <algorithm>

#include "core/limits/reservations.h"
#include "core/place/place.h"
#include "core/schedule/pass.h"
#include "model/hostlist.h"

namespace sluice {

std::string Pass::kept_for_others(const Entry& entry, const Job& job) {
    if (cluster_.reservations().empty()) return {};
    Planner& planner = scheduler_.planner;
    planner.open_reservation(cluster_, entry.reservation, now_, may_delay_others(job));
    Search search = search_for(entry, job);
    const Need& need = search.need;
    Planner::Kept kept = Planner::Kept::No;
    std::uint32_t open = 0;
    for (NodeIndex node : need.required.empty() ? search.nodes : need.required) {
        bool usable =
            need.possible[scheduler_.layout.kind_of[node.value]] && !planner.plan().is_closed(node);
        if (!usable || need.excludes(node)) continue;
        Planner::Kept here = planner.kept(node, search.from, end_of(search.from, search.length));
        kept = std::max(kept, here);
        if (here == Planner::Kept::No) ++open;
        if (need.required.empty() && open >= need.nodes_min) return {};
    }
    if (kept == Planner::Kept::No) return {};
    return kept == Planner::Kept::ForMaintenance ? "Reserved for maintenance"
                                                 : "May be reserved for other job";
}

// A waiting job has no reason of its own, at most one that it shares with its class: see
// query/reason.h.
void Pass::note_blocked(Entry& entry, JobId id) {
    if (is_attracted(entry)) return;  // it is tried again outside the reservation
    const Job& job = cluster_.job(id);
    Time insists_until = switches_until(cluster_, job);
    if (job.request->shape.switches_max && insists_until > now_) {
        cluster_.add_timer({insists_until, TimerKind::Plan, 0});
    }
    if (entry.booked > 0) return;  // booked jobs of its class are ahead
    Obstacle& obstacle = entry.job_class->obstacle;
    std::string kept = kept_for_others(entry, job);
    if (!kept.empty()) {
        obstacle = {.reason = Reason::ReqNodeNotAvail, .detail = std::move(kept)};
        return;
    }
    if (entry.reservation) {
        auto [first, is_new] = first_in_reservation_.emplace(entry.reservation->name, id);
        if (!is_new && waits_in_vain(first->second)) first->second = id;
    } else {
        auto& head = heads_[entry.in->partition];
        if (!head) head = id;
        auto& first = first_blocked_[entry.in->partition];
        if (!first || waits_in_vain(*first)) first = id;
        if (!cluster_.settings().backfill.enabled) stopped_[entry.in->partition] = true;
    }
    if (!obstacle.no_start) obstacle = {};
}

// No job waits behind one that cannot start: the next job without a placement is first in line.
bool Pass::waits_in_vain(JobId id) const {
    const JobClass* job_class = cluster_.waiting().queue().find_class(id);
    if (!job_class) return false;
    return is_full_ ? no_start_.contains(job_class->index) : job_class->obstacle.no_start;
}

void Pass::note_no_start(const Entry& entry, const Job& job) {
    Search search = search_for(entry, job);
    std::vector<std::string> closed;
    for (NodeIndex node : search.nodes) {
        if (scheduler_.planner.plan().is_closed(node))
            closed.push_back(cluster_.node(node).config.name);
    }
    ClassIndex index = entry.job_class->index;
    if (on_idle_nodes(cluster_, search.need).empty()) {
        no_start_.try_emplace(index, Obstacle{.reason = Reason::BadConstraints, .no_start = true});
    } else if (!closed.empty()) {
        bool too_few =
            search.nodes.size() - closed.size() < search.need.nodes_min && !entry.reservation;
        // Compat: lists all closed nodes of the partition, including nodes that the job could not
        // use.
        std::string names = Hostlist(std::move(closed)).sorted().to_string();
        Obstacle& why = no_start_[index];
        if (why.reason == Reason::ReqNodeNotAvail) return;  // in another of its partitions
        why = {.reason = Reason::ReqNodeNotAvail,
               .detail = "UnavailableNodes:" + names,
               .no_start = true,
               .too_few_nodes = too_few};
    }
}

// Compat: the job is held. A job with several partitions is parked until one of them changes.
void Pass::give_up_on(JobId id) {
    if (partitions_of(cluster_.job(id)).size() > 1)
        return park(cluster_, id, Reason::BadConstraints, {});
    dequeue(cluster_, cluster_.job(id));
    const Edit<Job> job = cluster_.edit_job(id);
    job->priority = 0;
    job->priority_by_hand = false;
    job->reason = Reason::BadConstraints;
    job->reason_detail.clear();
}

// Called when all partitions of a class have been tried; classes that can start again lose the
// reason.
void Pass::show_no_starts() {
    std::vector<JobId> hopeless;
    cluster_.waiting().queue().for_each_class([&](JobClass& job_class) {
        auto why = no_start_.find(job_class.index);
        bool in_vain = why != no_start_.end() &&
                       !scheduler_.planner.find_booking(job_class.waiting.begin()->job);
        Obstacle& obstacle = job_class.obstacle;
        bool is_kept = obstacle.reason != Reason::None && !obstacle.no_start;
        if (in_vain && why->second.reason == Reason::BadConstraints) {
            for (const QueueKey& key : job_class.waiting) hopeless.push_back(key.job);
        } else if (in_vain && !is_kept) {
            obstacle = why->second;
        } else if (!in_vain && obstacle.no_start) {
            obstacle = {};
        }
    });
    for (JobId id : hopeless) give_up_on(id);
}

std::vector<ClassObstacle> Pass::obstacles() {
    std::vector<ClassObstacle> found;
    cluster_.waiting().queue().for_each_class([&](JobClass& job_class) {
        const Obstacle& obstacle = job_class.obstacle;
        if (obstacle.reason == Reason::None) return;
        found.push_back({job_class.index, obstacle.reason, obstacle.detail, {}});
        // Compat: only the job that is first in line shows the text.
        for (const auto& head : heads_) {
            bool shows_it = head && obstacle.too_few_nodes &&
                            cluster_.waiting().queue().find_class(*head) == &job_class;
            if (shows_it) found.back().head = head;
        }
    });
    return found;
}

// Clears the reason of jobs that were parked or held before, or waited for something else.
void Pass::clear_old_reasons() {
    for (JobId id : cluster_.waiting().queue().take_come_back()) {
        if (!cluster_.waiting().queue().contains(id) || cluster_.job(id).reason == Reason::None)
            continue;
        const Edit<Job> job = cluster_.edit_job(id);
        job->reason = Reason::None;
        job->reason_detail.clear();
    }
}

}  // namespace sluice
