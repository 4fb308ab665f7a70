// core/schedule/quick_pass.cc
//
// Between full passes: what an event has touched, and nothing else.
#include <algorithm>

#include "core/place/place.h"
#include "core/schedule/pass.h"

namespace sluice {

constexpr int kWideSearchesPerQuickPass = 2;

bool Pass::new_ones_come_last() {
    const BackfillSettings& backfill = cluster_.settings().backfill;
    if (backfill.max_job_test + backfill.max_job_user + backfill.max_job_part > 0) return false;  // they count all
    bool last = true;
    scheduler_.queue.for_each_class([&](JobClass& job_class) {
        if (!job_class.is_fresh || !scheduler_.last_booked) return;
        for (const JobClass::InPartition& in : needs_of(cluster_, job_class)) {
            std::uint32_t tier = cluster_.partitions()[in.partition].config.priority_tier;
            last = last && scheduler_.last_booked->comes_before(tier, *job_class.waiting.begin());
        }
    });
    return last;
}

bool Pass::run_quick(const std::vector<NodeIndex>& touched) {
    for (NodeIndex node : touched) scheduler_.planner.refresh(cluster_, node, now_);
    std::vector<Entry> all = entries();
    std::vector<Entry*> line;
    for (Entry& entry : all) line.push_back(&entry);
    std::sort(line.begin(), line.end(), [](const Entry* a, const Entry* b) { return comes_first(*a, *b); });
    int wide_searches = kWideSearchesPerQuickPass;
    bool books = false, enough = true;
    std::vector<NodeIndex> here;
    for (Entry* each : line) {
        Entry& entry = *each;
        if (stopped_[entry.in->partition] || entry.job_class->waiting.empty()) continue;
        here.clear();
        for (NodeIndex node : touched) {
            bool inside = !entry.nodes || entry.reservation->has_node(node);
            if (inside && scheduler_.layout.in_partition[entry.in->partition][node.value]) here.push_back(node);
        }
        if (waits_as_before(entry, here)) continue;
        do {
            entry.key = *entry.job_class->waiting.begin();
        } while (try_quickly(entry, here, wide_searches) && !entry.job_class->waiting.empty());
        if (entry.job_class->waiting.empty()) continue;
        note_blocked(entry, entry.key.job);
        if (!entry.is_fresh) continue;
        entry.job_class->is_fresh = false;
        bool booked = scheduler_.planner.find_booking(entry.key.job).has_value();
        bool has_others = entry.job_class->needs.size() > 1;  // another partition may have it earlier
        if ((booked && !has_others) || !may_book(entry)) continue;
        bool is_booked = book(entry, cluster_.job(entry.key.job));
        books |= is_booked;
        enough &= is_booked;
    }
    scheduler_.planner.open_reservation(cluster_, nullptr, now_);
    publish(books);
    return enough;
}

// Nothing that was touched has room for it, and what it is told stays as it is.
bool Pass::waits_as_before(const Entry& entry, const std::vector<NodeIndex>& touched) const {
    const Need& need = entry.in->need;
    if (entry.is_fresh || entry.reservation || need.sharers > 1 || !cluster_.reservations().empty()) return false;
    const std::optional<JobId>& first = first_blocked_[entry.in->partition];
    if (!first || waits_in_vain(*first)) return false;
    const Planner& planner = scheduler_.planner;
    bool has_room = std::any_of(touched.begin(), touched.end(), [&](NodeIndex node) { return finder_.has_room(need, node, planner.tick(now_)); });
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
    if (!is_fresh && !may_share && std::none_of(touched.begin(), touched.end(), [&](NodeIndex node) { return finder_.has_room(need, node, search.from); })) {
        return false;
    }
    bool wide = is_fresh || !one_node;
    if (!is_fresh && wide && wide_searches-- <= 0) return false;
    if (!may_run(*job)) return !entry.job_class->waiting.empty();
    Search narrow{.need = need, .nodes = wide ? search.nodes : touched, .from = search.from, .length = search.length,
                  .options = search.options};
    auto own = planner.find_booking(job->id);
    if (own) planner.lift(*own);
    bool started = start_in(entry, job->id, narrow, finder_.at_once(narrow));
    started = started || (is_fresh && start_shortened(entry, job->id)) || start_shared(entry, job->id);
    if (own && started) planner.drop_lifted(*own);
    else if (own) planner.lay(*own);
    if (started) return true;
    return is_fresh && !is_attracted(entry) && preempt_for(entry, job->id);
}

}  // namespace sluice
