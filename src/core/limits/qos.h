// core/limits/qos.h
//
// Qualities of service, and their effect on submissions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"

namespace sluice {

Qos default_qos();  // `normal`, as a new cluster has it
const Qos* find_qos(const Cluster& cluster, std::string_view name);

// Where QOS are enforced, a job has one that exists. Elsewhere any name is accepted, as in Slurm.
std::string qos_in_force(const Cluster& cluster, const std::string& named);
Result<void> check_qos(const Cluster& cluster, const JobTerms& demand);

// Takes over what accounting decided, and looks at all waiting jobs again.
void on_policy_changed(Cluster& cluster, Time now, const PolicyChanged& event);

}  // namespace sluice
