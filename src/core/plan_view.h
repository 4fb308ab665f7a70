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

struct PlanView {
    std::vector<std::optional<JobId>> first_blocked;  // by partition: waits for resources, those behind it for it
    std::vector<bool> behind_tier;  // by partition: that job waits behind one of a higher tier for the same nodes
    std::map<std::string, JobId> first_in_reservation;  // the same for those who wait in one
    std::shared_ptr<const std::vector<StartEstimate>> estimates;  // by job id
    std::vector<bool> planned;  // by node index: kept for the first that waits; may be shorter

    bool is_planned(NodeIndex node) const { return node.value < planned.size() && planned[node.value]; }

    const StartEstimate* find(JobId job) const {
        auto found = std::lower_bound(estimates->begin(), estimates->end(), job,
                                      [](const StartEstimate& entry, JobId wanted) { return entry.job < wanted; });
        return found == estimates->end() || found->job != job ? nullptr : &*found;
    }
};

}  // namespace sluice
