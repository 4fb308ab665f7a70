// core/limits/tres.h
//
// What jobs hold and ask for, and what nodes have, as trackable resources (TRES).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"

namespace sluice {

std::string print_indexes(const std::vector<std::uint32_t>& indexes);  // "0-1,4"
// "cpu=4,mem=4G,node=1,billing=4,gres/gpu=2,gres/gpu:a40=2" of what a job holds or asks for.
Tres tres_of(const Allocation& allocation);
Tres tres_of(const Job& job,
             const Snapshot& snapshot);  // of a job with nodes; with billing of its partition
// By TRESBillingWeights; without weights it is the CPUs. Listings and limits count whole units,
// past use the exact amount.
std::uint64_t billing_of(const Tres& tres, std::string_view weights, BillingRule rule);
double exact_billing(const Tres& tres, std::string_view weights, BillingRule rule);
Tres tres_wanted(const Job& job, const Snapshot& snapshot);
Tres tres_wanted(const Job& job, const Partition* partition, const Settings& settings);
Tres cfg_tres(const Node& node);  // what slurm.conf says it has

}  // namespace sluice
