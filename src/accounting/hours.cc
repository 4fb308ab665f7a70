// accounting/hours.cc
//
// See hours.h.
#include "accounting/hours.h"

#include <algorithm>

#include "accounting/periods.h"
#include "model/hostlist.h"
#include "model/reservation.h"

namespace sluice::accounting {

namespace {

void add(TresSeconds& sum, const Tres& tres, std::uint64_t seconds) {
    for (const auto& [name, amount] : tres) sum[name] += amount * seconds;
}

std::uint64_t amount_of(const TresSeconds& sums, const std::string& name) {
    const auto found = sums.find(name);
    return found == sums.end() ? 0 : found->second;
}

// Nodes that were not meant to be used: FUTURE, or powered down ("idle~").
bool is_planned_down(const AccountedEvent& event) {
    return event.state.ends_with('~') || event.state.find("FUTURE") != std::string::npos ||
           event.state.find("POWERED_DOWN") != std::string::npos;
}

constexpr Time kEndOfTime = from_unix(std::int64_t{1} << 62);

}  // namespace

Hours::Hours(Time from, Time to) {
    for (Time at = from; at < to; at = next_period(RollupPeriod::Hour, at)) starts_.push_back(at);
    hours_.resize(starts_.size());
    starts_.push_back(to);
}

template <typename Visit>
void Hours::for_each_part(UsageInterval interval, Visit visit) {
    const Time start = std::max(interval.start, starts_.front());
    const Time end = std::min(interval.end, starts_.back());
    if (start >= end) return;
    auto hour = std::upper_bound(starts_.begin(), starts_.end(), start) - starts_.begin() - 1;
    for (; starts_[static_cast<std::size_t>(hour)] < end; ++hour) {
        const auto at = static_cast<std::size_t>(hour);
        const Seconds part = std::min(end, starts_[at + 1]) - std::max(start, starts_[at]);
        visit(hours_[at], static_cast<std::uint64_t>(part.count()));
    }
}

void Hours::add_job(const AccountedJob& job, const std::vector<UsageInterval>& suspended,
                    std::uint32_t wckey) {
    const Time end = job.end.value_or(kEndOfTime);
    if (job.eligible != Time{}) {
        const auto copies = std::max<std::uint64_t>(job.array_tasks.size(), 1);
        for_each_part({job.eligible, job.start.value_or(end)},
                      [&](Hour& hour, std::uint64_t seconds) {
                          add(hour.waiting, job.tres_requested, seconds * copies);
                      });
    }
    if (!job.start) return;
    for (const UsageInterval& ran : without({*job.start, end}, suspended)) {
        for_each_part(ran, [&](Hour& hour, std::uint64_t seconds) {
            add(hour.allocated, job.tres_allocated, seconds);
            if (job.association != 0)
                add(hour.associations[job.association], job.tres_allocated, seconds);
            if (wckey != 0) add(hour.wckeys[wckey], job.tres_allocated, seconds);
            if (!job.reservation.empty())
                add(hour.in_reservation[job.reservation], job.tres_allocated, seconds);
        });
    }
}

void Hours::add_cluster(const Tres& tres, UsageInterval when) {
    for_each_part(when, [&](Hour& hour, std::uint64_t seconds) { add(hour.total, tres, seconds); });
}

void Hours::add_reservation(const AccountedReservation& reservation) {
    const UsageInterval when{reservation.start, reservation.end};
    if (reservation.flags & kResvIgnoreJobs) return;
    if (!(reservation.flags & kResvMaint)) {
        for_each_part(when, [&](Hour& hour, std::uint64_t seconds) {
            add(hour.reserved[reservation.name], reservation.tres, seconds);
        });
        return;
    }
    for_each_part(when, [&](Hour& hour, std::uint64_t seconds) {
        add(hour.planned_down, reservation.tres, seconds);
    });
    if (Result<Hostlist> nodes = Hostlist::parse(reservation.node_names)) {
        std::vector<std::string> names = (*std::move(nodes)).names();
        std::sort(names.begin(), names.end());
        maintenances_.push_back({when, std::move(names)});
    }
}

void Hours::add_node_event(const AccountedEvent& event) {
    // What a maintenance has counted already is not down, too.
    std::vector<UsageInterval> counted;
    for (const Maintenance& each : maintenances_) {
        if (std::binary_search(each.nodes.begin(), each.nodes.end(), event.node))
            counted.push_back(each.when);
    }
    const bool is_planned = is_planned_down(event);
    for (const UsageInterval& each :
         without({event.start, event.end.value_or(kEndOfTime)}, counted)) {
        for_each_part(each, [&](Hour& hour, std::uint64_t seconds) {
            add(is_planned ? hour.planned_down : hour.down, event.tres, seconds);
        });
    }
}

std::vector<ClusterUsageRow> Hours::cluster(std::size_t index) const {
    const Hour& hour = hours_[index];
    TresSeconds allocated = hour.allocated;
    // What a reservation keeps and its jobs do not use counts as allocated.
    for (const auto& [name, reserved] : hour.reserved) {
        const auto found = hour.in_reservation.find(name);
        for (const auto& [tres, seconds] : reserved) {
            const std::uint64_t used =
                found == hour.in_reservation.end() ? 0 : amount_of(found->second, tres);
            allocated[tres] += seconds - std::min(seconds, used);
        }
    }
    const auto length = static_cast<std::uint64_t>((starts_[index + 1] - starts_[index]).count());
    std::vector<ClusterUsageRow> rows;
    for (const auto& [tres, total] : hour.total) {
        ClusterUsageRow row{.start = starts_[index], .tres = tres};
        row.count = (total + length / 2) / length;
        std::uint64_t rest = total;
        const auto take = [&](std::uint64_t wanted) {
            const std::uint64_t taken = std::min(wanted, rest);
            rest -= taken;
            return taken;
        };
        row.allocated = take(amount_of(allocated, tres));
        row.planned_down = take(amount_of(hour.planned_down, tres));
        row.down = take(amount_of(hour.down, tres));
        const std::uint64_t waiting = amount_of(hour.waiting, tres);
        row.planned = take(waiting);
        row.over = waiting - row.planned;
        row.idle = rest;
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<UsageInterval> without(UsageInterval interval, std::vector<UsageInterval> removed) {
    std::sort(removed.begin(), removed.end(),
              [](const UsageInterval& a, const UsageInterval& b) { return a.start < b.start; });
    std::vector<UsageInterval> left;
    for (const UsageInterval& each : removed) {
        if (each.start > interval.start) {
            left.push_back({interval.start, std::min(each.start, interval.end)});
        }
        interval.start = std::max(interval.start, std::min(each.end, interval.end));
    }
    left.push_back(interval);
    std::erase_if(left, [](const UsageInterval& each) { return each.start >= each.end; });
    return left;
}

}  // namespace sluice::accounting
