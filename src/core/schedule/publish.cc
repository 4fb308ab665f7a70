// core/schedule/publish.cc
//
// What readers see of the plan: estimated starts, planned nodes, the first job in line.
#include <algorithm>

#include "core/schedule/estimate.h"
#include "core/schedule/pass.h"

namespace sluice {

constexpr std::uint64_t kStepsForParked = 500'000;  // nodes looked at: about 10 ms

std::shared_ptr<const std::vector<StartEstimate>> Pass::estimates() {
    auto found = std::make_shared<std::vector<StartEstimate>>();
    const Planner& planner = scheduler_.planner;
    cluster_.waiting().queue().for_each_class([&](JobClass& job_class) {
        PlanTime length = length_of(job_class);
        std::vector<PlanTime> starts;
        std::uint64_t behind = 0;
        for (const QueueKey& key : job_class.waiting) {
            if (auto number = planner.find_booking(key.job)) {
                const Booking& booking = planner.booking(*number);
                StartEstimate estimate{key.job, planner.time(booking.start), {}};
                for (const Chosen& chosen : booking.nodes) estimate.nodes.push_back(chosen.node);
                found->push_back(std::move(estimate));
                starts.push_back(booking.start);
            } else if (!starts.empty() && length != kForever) {
                std::uint64_t rounds = behind / starts.size() + 1;
                PlanTime base = starts[behind++ % starts.size()];
                found->push_back(
                    {key.job,
                     planner.time(base) + static_cast<std::int64_t>(rounds) * Seconds{length},
                     {}});
            }
        }
    });
    estimate_parked(*found);
    std::sort(found->begin(), found->end(),
              [](const StartEstimate& a, const StartEstimate& b) { return a.job < b.job; });
    return found;
}

// These jobs keep no booking: until then other jobs may use the nodes. In the order of priority, so
// that the first job gets the first licence; no more of them than a pass has time for.
void Pass::estimate_parked(std::vector<StartEstimate>& found) {
    constexpr std::size_t kMost = 500;
    std::vector<QueueKey> waiting;
    cluster_.waiting().parked().for_each([&](JobId id) {
        if (comes_in_time(cluster_.job(id).reason)) waiting.push_back({cluster_.priority(id), id});
    });
    Planner& planner = scheduler_.planner;
    cluster_.waiting().queue().for_each_class([&](const JobClass& job_class) {
        if (!job_class.obstacle.is_limit) return;
        std::size_t left = kBookingsPerClass;
        for (auto key = job_class.waiting.begin(); key != job_class.waiting.end() && left-- > 0;
             ++key) {
            if (!planner.find_booking(key->job)) waiting.push_back(*key);
        }
    });
    std::sort(waiting.begin(), waiting.end());
    CountPlan counts(cluster_, now_);
    std::uint64_t steps_most = finder_.steps + kStepsForParked;
    for (std::size_t i = 0; i < std::min(waiting.size(), kMost) && finder_.steps < steps_most;
         ++i) {
        const Job& job = cluster_.job(waiting[i].job);
        auto estimate = estimate_start(cluster_, planner, now_, job, finder_, counts);
        if (!estimate) continue;
        const Partition& partition = *cluster_.find_partition(estimate->partition);
        counts.take(job, partition, estimate->start);
        PlanTime at = planner.tick(estimate->start);
        planner.book({job.id, static_cast<std::size_t>(&partition - cluster_.partitions().data()),
                      at, end_of(at, length_of(job.time_limit)), estimate->nodes});
        StartEstimate start{job.id, estimate->start, {}};
        for (const Chosen& chosen : estimate->nodes) start.nodes.push_back(chosen.node);
        found.push_back(std::move(start));
    }
    for (const QueueKey& key : waiting) {  // their bookings counted only for each other
        auto number = planner.find_booking(key.job);
        if (!number) continue;
        planner.hide(*number);
        planner.drop_hidden(*number);
    }
}

// Compat: what sinfo shows as planned: nodes that the first waiting job of a partition is booked
// on.
std::vector<bool> Pass::planned_nodes() const {
    std::vector<bool> planned(cluster_.node_count());
    for (const std::optional<JobId>& job : first_blocked_) {
        auto number = job ? scheduler_.planner.find_booking(*job) : std::nullopt;
        if (!number) continue;
        for (const Chosen& chosen : scheduler_.planner.booking(*number).nodes)
            planned[chosen.node.value] = true;
    }
    return planned;
}

std::vector<bool> Pass::behind_tier() const {
    const std::vector<Partition>& partitions = cluster_.partitions();
    std::vector<bool> behind(partitions.size());
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        std::uint32_t tier = partitions[i].config.priority_tier;
        for (std::size_t above = 0; first_blocked_[i] && above < partitions.size() && !behind[i];
             ++above) {
            if (!first_blocked_[above] || partitions[above].config.priority_tier <= tier) continue;
            const std::vector<bool>& theirs = scheduler_.layout.in_partition[above];
            behind[i] = std::any_of(partitions[i].nodes.begin(), partitions[i].nodes.end(),
                                    [&](NodeIndex node) { return theirs[node.value]; });
        }
    }
    return behind;
}

void Pass::publish(bool with_estimates) {
    clear_old_reasons();
    with_estimates = with_estimates || has_new_parked_;
    std::vector<ClassObstacle> kept_back = obstacles();
    std::shared_ptr<const PlanView> before = cluster_.plan();
    if (!with_estimates && before && before->first_blocked == first_blocked_ &&
        before->first_in_reservation == first_in_reservation_ && before->obstacles == kept_back) {
        return;
    }
    auto view = std::make_shared<PlanView>();
    view->pass_time = now_;
    view->first_blocked = first_blocked_;
    view->behind_tier = behind_tier();
    view->first_in_reservation = first_in_reservation_;
    view->estimates = with_estimates || !before ? estimates() : before->estimates;
    view->obstacles = std::move(kept_back);
    view->planned = planned_nodes();
    cluster_.publish_plan(std::move(view));
}

}  // namespace sluice
