// core/schedule/blocked.cc
//
// What a job that found no place is told: whether it is first in line, reservations keep the nodes
// from it, or it cannot start at all as things are.
#include <algorithm>

#include "core/limits/reservations.h"
#include "core/place/place.h"
#include "core/schedule/pass.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

// The reason says that it cannot start as things are: only a full pass, which looks at all nodes,
// takes it back.
bool has_no_start(const Job& job) {
    if (job.reason == Reason::ReqNodeNotAvail) return job.reason_detail.starts_with("UnavailableNodes:");
    return job.reason == Reason::NodesUnavailable || job.reason == Reason::BadConstraints;
}

}  // namespace

std::string Pass::kept_for_others(const Entry& entry, const Job& job) {
    if (cluster_.reservations().empty()) return {};
    Planner& planner = scheduler_.planner;
    planner.open_reservation(cluster_, entry.reservation, now_);
    Search search = search_for(entry, job);
    const Need& need = search.need;
    Planner::Kept kept = Planner::Kept::No;
    std::uint32_t open = 0;
    for (NodeIndex node : need.required.empty() ? search.nodes : need.required) {
        bool usable = need.possible[scheduler_.layout.kind_of[node.value]] && !planner.plan().is_closed(node);
        if (!usable || need.excludes(node)) continue;
        Planner::Kept here = planner.kept(node, search.from, end_of(search.from, search.length));
        kept = std::max(kept, here);
        if (here == Planner::Kept::No) ++open;
        if (need.required.empty() && open >= need.nodes_min) return {};
    }
    if (kept == Planner::Kept::No) return {};
    return kept == Planner::Kept::ForMaintenance ? "Reserved for maintenance" : "May be reserved for other job";
}

void Pass::set_reason(JobId id, Reason reason, std::string detail) {
    const Job& before = cluster_.job(id);
    if (before.reason == reason && before.reason_detail == detail) return;
    Job& job = cluster_.edit_job(id);
    job.reason = reason;
    job.reason_detail = std::move(detail);
}

// A job that waits for its turn or a place has no reason of its own: see query/reason.h.
void Pass::note_blocked(const Entry& entry, JobId id) {
    bool asked = !entry.job_class->sample->reservation.empty();
    if (entry.reservation && !asked) return;  // looked at once more, outside
    const Job& job = cluster_.job(id);
    std::string kept = kept_for_others(entry, job);
    if (!kept.empty()) return set_reason(id, Reason::ReqNodeNotAvail, std::move(kept));
    if (entry.reservation) {
        auto [first, is_new] = first_in_reservation_.emplace(entry.reservation->name, id);
        if (!is_new && waits_in_vain(first->second)) first->second = id;
    } else {
        auto& first = first_blocked_[entry.in->partition];
        if (!first || waits_in_vain(*first)) first = id;
        Time insists_until = switches_until(cluster_, job);
        if (job.request->shape.switches_max && insists_until > now_) {
            cluster_.add_timer({insists_until, TimerKind::Plan, 0});
        }
        if (!cluster_.settings().backfill.enabled) stopped_[entry.in->partition] = true;
    }
    if (!has_no_start(job)) set_reason(id, Reason::None, {});
}

// Nobody waits behind a job that cannot start: the next one that finds no place is first in line.
bool Pass::waits_in_vain(JobId id) const {
    return is_full_ ? no_start_.contains(id) : has_no_start(cluster_.job(id));
}

void Pass::note_no_start(const Entry& entry, const Job& job) {
    Search search = search_for(entry, job);
    std::vector<std::string> closed;
    for (NodeIndex node : search.nodes) {
        if (scheduler_.planner.plan().is_closed(node)) closed.push_back(cluster_.node(node).config.name);
    }
    if (on_idle_nodes(cluster_, search.need).empty()) {
        no_start_.try_emplace(job.id, Reason::BadConstraints, "");
    } else if (search.nodes.size() - closed.size() < search.need.nodes_min && !entry.reservation) {
        no_start_.try_emplace(job.id, Reason::NodesUnavailable, "");
    } else if (!closed.empty()) {
        // Compat: all of the partition's that are away, those that would not do among them.
        std::string names = Hostlist(std::move(closed)).sorted().to_string();
        no_start_.try_emplace(job.id, Reason::ReqNodeNotAvail, "UnavailableNodes:" + names);
    }
}

// Once all of its partitions have been looked at; those that can start again lose the reason.
void Pass::show_no_starts() {
    const Planner& planner = scheduler_.planner;
    std::erase_if(no_start_, [&](const auto& entry) { return planner.find_booking(entry.first).has_value(); });
    std::vector<JobId> found;
    scheduler_.queue.for_each_class([&](JobClass& job_class) {
        const QueueKey& first = *job_class.waiting.begin();
        if (has_no_start(cluster_.job(first.job)) && !no_start_.contains(first.job)) found.push_back(first.job);
    });
    for (JobId id : found) set_reason(id, Reason::None, {});
    for (auto& [id, why] : no_start_) {
        bool kept = cluster_.job(id).reason == Reason::ReqNodeNotAvail && !has_no_start(cluster_.job(id));
        if (scheduler_.queue.contains(id) && !kept) set_reason(id, why.first, why.second);
    }
}

}  // namespace sluice
