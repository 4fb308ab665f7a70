// core/plan_view.h
//
// What readers are told of the plan: who is expected to start when and where.
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
    std::vector<NodeIndex> nodes;  // empty: too far ahead to say
};

// Why none of a class of equal jobs can start. The word belongs to the class: it costs the same
// however many wait in it, and whoever joins them shows it at once.
struct ClassObstacle {
    std::uint32_t wait_class;  // Job::wait_class
    Reason reason;
    std::string detail;
    std::optional<JobId> head;  // first in line in a partition: shows NodesUnavailable instead
    bool operator==(const ClassObstacle&) const = default;
};

struct PlanView {
    Time pass_time;  // of the pass that published this: when those in the queue were last looked
                     // at, or a little earlier
    std::vector<std::optional<JobId>>
        first_blocked;  // by partition: waits for resources, those behind it for it
    std::vector<bool>
        behind_tier;  // by partition: that job waits behind one of a higher tier for the same nodes
    std::map<std::string, JobId> first_in_reservation;  // the same for those who wait in one
    std::shared_ptr<const std::vector<StartEstimate>> estimates;  // by job id
    std::vector<ClassObstacle> obstacles;                         // by wait_class
    std::vector<bool> planned;  // by node index: kept for the first that waits; may be shorter

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
