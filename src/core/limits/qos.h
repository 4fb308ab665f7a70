// core/limits/qos.h
//
// Qualities of service: the table that sacctmgr changes, and its effect on submissions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"

namespace sluice {

std::vector<Qos> first_qos();  // a new cluster's: `normal`
const Qos* find_qos(const Cluster& cluster, std::string_view name);

// Where QOS are enforced, a job has one that exists. Elsewhere any name is accepted, as in Slurm.
std::string qos_in_force(const Cluster& cluster, const std::string& named);
Result<void> check_qos(const Cluster& cluster, const JobTerms& demand);

void on_update_qos(Cluster& cluster, Time now, const UpdateQos& event, Effects& effects);

}  // namespace sluice
