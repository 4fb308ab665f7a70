// core/plan_view.h
//
// What readers see of the plan: estimated starts.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"

namespace sluice {

struct StartEstimate {
    JobId job;
    Time start;
    std::vector<NodeIndex> nodes;  // empty: too far ahead
};

// Why no job of a class can start. The reason belongs to the class: its cost does not depend on the
// number of jobs, and a new job of the class shows it at once.
struct ClassObstacle {
    std::uint32_t wait_class;  // Job::wait_class
    Reason reason;
    std::string detail;
    std::optional<JobId> head;  // first in line in a partition: shows NodesUnavailable instead
    bool operator==(const ClassObstacle&) const = default;
};

struct PlanView {
    Time pass_time;  // of the pass that published this: queued jobs were evaluated then, or a
                     // little later
    std::vector<std::optional<JobId>>
        first_blocked;  // by partition: waits for resources, later jobs for their priority
    std::vector<bool>
        behind_tier;  // by partition: that job waits for nodes of one of a higher tier
    std::map<std::string, JobId> first_in_reservation;  // the same for jobs in a reservation
    std::shared_ptr<const std::vector<StartEstimate>> estimates;  // by job id
    std::vector<ClassObstacle> obstacles;                         // by wait_class
    std::vector<bool> planned;  // by node index: kept for the first waiting job; may be shorter

    bool is_planned(NodeIndex node) const {
        return node.value < planned.size() && planned[node.value];
    }

    const ClassObstacle* find_obstacle(const Job& job) const {
        auto found = std::lower_bound(obstacles.begin(), obstacles.end(), job.wait_class,
                                      [](const ClassObstacle& entry, std::uint32_t wanted) {
                                          return entry.wait_class < wanted;
                                      });
        return found == obstacles.end() || found->wait_class != job.wait_class ? nullptr : &*found;
    }

    const StartEstimate* find(JobId job) const {
        auto found = std::lower_bound(
            estimates->begin(), estimates->end(), job,
            [](const StartEstimate& entry, JobId wanted) { return entry.job < wanted; });
        return found == estimates->end() || found->job != job ? nullptr : &*found;
    }
};

}  // namespace sluice
