// core/schedule/quick_pass.cc
//
// Quick passes, between full ones: only what an event has touched.
#include <algorithm>

#include "core/place/place.h"
#include "core/schedule/pass.h"

namespace sluice {

constexpr int kWideSearchesPerQuickPass = 2;
constexpr std::size_t kEstimatedAtOnce =
    1000;  // jobs; publishing the starts of more takes too long

bool Pass::new_ones_come_last() {
    const BackfillSettings& backfill = cluster_.settings().backfill;
    if (backfill.max_job_test + backfill.max_job_user + backfill.max_job_part > 0)
        return false;  // they count all jobs
    bool last = true;
    cluster_.waiting().queue().for_each_class([&](JobClass& job_class) {
        if ((!job_class.is_fresh && !job_class.joined) || !scheduler_.last_booked) return;
        QueueKey first = job_class.is_fresh ? *job_class.waiting.begin() : *job_class.joined;
        for (const JobClass::InPartition& in : needs_of(cluster_, job_class)) {
            std::uint32_t tier = cluster_.partitions()[in.partition].config.priority_tier;
            last = last && scheduler_.last_booked->comes_before(tier, first);
        }
    });
    return last;
}

bool Pass::run_quick(const std::vector<NodeIndex>& touched) {
    for (NodeIndex node : touched) scheduler_.planner.refresh(cluster_, node, now_);
    std::vector<Entry> all = entries();
    std::vector<Entry*> line;
    for (Entry& entry : all) line.push_back(&entry);
    std::sort(line.begin(), line.end(),
              [](const Entry* a, const Entry* b) { return comes_first(*a, *b); });
    int wide_searches = kWideSearchesPerQuickPass;
    bool books = false, enough = true;
    std::vector<NodeIndex> here;
    for (Entry* each : line) {
        Entry& entry = *each;
        if (stopped_[entry.in->partition] || entry.job_class->waiting.empty()) continue;
        here.clear();
        for (NodeIndex node : touched) {
            bool inside = !entry.nodes || entry.reservation->has_node(node);
            if (inside && scheduler_.layout.in_partition[entry.in->partition][node.value])
                here.push_back(node);
        }
        if (waits_as_before(entry, here)) continue;
        do {
            entry.key = *entry.job_class->waiting.begin();
            ++report_.depth;
            if (!is_limited(entry, cluster_.job(entry.key.job))) continue;  // tried below
            if (entry.is_fresh && may_preempt_for(entry, Outcome::Limited))
                preempt_for(entry, entry.key.job);
            break;
        } while (try_quickly(entry, here, wide_searches) && !entry.job_class->waiting.empty());
        if (entry.job_class->waiting.empty()) continue;
        if (entry.allowed == 0) {
            entry.job_class->is_fresh = false;
            entry.job_class->joined.reset();
            continue;
        }
        note_blocked(entry, entry.key.job);
        if (!entry.is_fresh && !entry.joined) continue;
        entry.job_class->is_fresh = false;
        entry.job_class->joined.reset();
        Line outcome = book_line(entry);
        books |= outcome == Line::Booked;
        enough &= outcome != Line::NoStart;
    }
    scheduler_.planner.open_reservation(cluster_, nullptr, now_);
    bool are_many = cluster_.waiting().queue().size() > kEstimatedAtOnce;
    if (books && are_many) cluster_.add_timer({now_ + kPlanSoon, TimerKind::Plan, 0});
    publish(books && !are_many);
    return enough;
}

Pass::Line Pass::book_line(Entry& entry) {
    const Planner& planner = scheduler_.planner;
    bool has_others = entry.job_class->needs.size() > 1;  // another partition may start it earlier
    Line line = Line::AsBefore;
    entry.key = *entry.job_class->waiting.begin();
    do {
        std::shared_ptr<const Job> job = cluster_.find_job(entry.key.job);
        bool is_new = entry.is_fresh || !(entry.key < *entry.joined);
        std::vector<Planner::Number> known = planner.bookings_of(job->id);
        bool stands = !known.empty() && !(has_others && is_new);
        if (stands) {
            entry.booked += static_cast<std::uint32_t>(known.size());
            entry.last_start = std::max(entry.last_start, planner.booking(known.front()).start);
        }
        for (bool wanted = !stands || has_more_tasks(entry, *job); wanted;
             wanted = has_more_tasks(entry, *job)) {
            if (!may_book(entry)) return line;
            if (!book(entry, *job)) return entry.booked == 0 ? Line::NoStart : line;
            line = Line::Booked;
        }
    } while (advance(entry));
    return line;
}

// No touched node has room for it, and its reason and booking stay as they are.
bool Pass::waits_as_before(const Entry& entry, const std::vector<NodeIndex>& touched) const {
    const Need& need = entry.in->need;
    if (entry.is_fresh || entry.joined || entry.reservation || need.sharers > 1 ||
        !cluster_.reservations().empty())
        return false;
    const std::optional<JobId>& first = first_blocked_[entry.in->partition];
    if (!first || waits_in_vain(*first)) return false;
    const Planner& planner = scheduler_.planner;
    bool has_room = std::any_of(touched.begin(), touched.end(), [&](NodeIndex node) {
        return finder_.has_room(need, node, planner.tick(now_));
    });
    return !has_room && entry.job_class->obstacle.reason == Reason::None;
}

bool Pass::try_quickly(Entry& entry, const std::vector<NodeIndex>& touched, int& wide_searches) {
    const Need& need = entry.in->need;
    Planner& planner = scheduler_.planner;
    planner.open_reservation(cluster_, entry.reservation, now_);
    std::shared_ptr<const Job> job = cluster_.find_job(entry.key.job);
    Search search = search_for(entry, *job);
    bool is_fresh = entry.is_fresh;
    bool one_node = finder_.is_single(search);
    bool may_share = need.sharers > 1 && !touched.empty();
    if (!is_fresh && !may_share &&
        std::none_of(touched.begin(), touched.end(),
                     [&](NodeIndex node) { return finder_.has_room(need, node, search.from); })) {
        return false;
    }
    bool wide = is_fresh || !one_node;
    if (!is_fresh && wide && wide_searches-- <= 0) return false;
    if (!may_run(*job)) return !entry.job_class->waiting.empty();
    Search narrow{.need = need,
                  .nodes = wide ? search.nodes : touched,
                  .from = search.from,
                  .length = search.length,
                  .options = search.options,
                  .detail = search.detail};
    ++report_.tried;
    auto own = planner.find_booking(job->id);
    if (own) planner.hide(*own);
    Choice choice = finder_.at_once(narrow);
    bool started = !choice.empty() && start(entry, job->id, choice);
    started =
        started || (is_fresh && start_shortened(entry, job->id)) || start_shared(entry, job->id);
    if (own && started)
        planner.drop_hidden(*own);
    else if (own)
        planner.show(*own);
    if (started) return true;
    return is_fresh && !is_attracted(entry) && preempt_for(entry, job->id);
}

}  // namespace sluice
