// model/job.cc: properties of a job that do not depend on the cluster.
#include "model/job.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

std::uint32_t Allocation::cpus() const {
    std::size_t total = 0;
    for (const NodeShare& share : nodes) total += share.cpus.size();
    return static_cast<std::uint32_t>(total);
}

const NodeShare* Allocation::find(NodeIndex node) const {
    auto place = std::lower_bound(
        nodes.begin(), nodes.end(), node,
        [](const NodeShare& share, NodeIndex wanted) { return share.node < wanted; });
    if (place != nodes.end() && place->node == node) return &*place;
    // The order of the node table may have changed since it started.
    place = std::find_if(nodes.begin(), nodes.end(),
                         [&](const NodeShare& share) { return share.node == node; });
    return place != nodes.end() ? &*place : nullptr;
}

JobRequest request_of(const Job& job) {
    return {*job.request, job.details->unpacked()};
}

void set_request(Job& job, const JobRequest& request) {
    job.request = std::make_shared<const JobTerms>(request);
    job.details = std::make_shared<const PackedDetails>(request);
}

ShownState shown_state(const Job& job) {
    if (is_completing(job)) return ShownState::Completing;
    if (is_configuring(job)) return ShownState::Configuring;
    if (job.state == JobState::Pending && job.reason == Reason::ReservationDeleted)
        return ShownState::ResvDelHold;
    if (job.state == JobState::Pending && job.special_exit) return ShownState::SpecialExit;
    return static_cast<ShownState>(job.state);  // JobState's order is ShownState's
}

bool has_any_task(const Job& job, const TaskSet& tasks) {
    if (job.array_task) return tasks.contains(*job.array_task);
    return tasks.intersects(job.array_tasks);
}

std::string print_job_id(const Job& job) {
    if (!job.array_job) return fmt::format("{}", job.id.value);
    if (job.array_task) return fmt::format("{}_{}", job.array_job->value, *job.array_task);
    if (job.array_tasks.empty()) return fmt::format("{}", job.array_job->value);
    ArraySpec rest{job.array_tasks, job.array_limit};
    return fmt::format("{}_[{}]", job.array_job->value, print_array(rest));
}

std::string print_sluid(std::uint64_t sluid) {
    constexpr std::string_view kBase32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    std::string text = "s";
    for (int shift = 60; shift >= 0; shift -= 5) text += kBase32[(sluid >> shift) & 31];
    return text;
}

}  // namespace sluice
