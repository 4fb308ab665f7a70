// core/limits/access.h
//
// Whether a job may use a partition: state, groups, accounts, QOS, hosts and reservations, as
// configured. Checked at submission and when the owner changes one of these; an accepted job stays
// when the partition changes.
#pragma once

#include "core/cluster.h"
#include "core/limits/allowance.h"

namespace sluice {

// The error says what forbids it.
Result<void> may_use(const Cluster& cluster, const PartitionConfig& partition, const Caller& caller,
                     const JobTerms& demand);

// The part of it that depends on what the job asks for: ReqResv, accounts and QOS.
Result<void> takes_terms(const PartitionConfig& partition, const JobTerms& demand);

// --core-spec and --thread-spec need AllowSpecResourcesUsage.
Result<void> check_spec_resources(const Cluster& cluster, const Shape& shape);

// The partitions of the list ("a,b") that take the job; the others are not tried later either. The
// first error if none does, or if one does not and EnforcePartLimits=ALL. Alternates replace
// partitions that take no jobs.
Result<std::string> partitions_taking(const Cluster& cluster, std::string_view names,
                                      const Caller& caller, const JobTerms& demand);

// AllowGroups, by the groups of the caller.
bool group_allowed(const Cluster& cluster, const PartitionConfig& partition, const Caller& caller);

bool takes_qos(const PartitionConfig& partition, const std::string& qos);  // AllowQos, DenyQos
// MinNodes and MaxNodes. Of a range (-N 1-5) the maximum counts too; of a list (-N 1,3,7) one
// possible count is enough.
bool takes_node_count(const PartitionBounds& partition, const Shape& shape);

// The names of the partitions it may run in.
std::vector<std::string> partitions_of(const Job& job);

// The partition itself, or its Alternate while it takes no jobs.
const Partition& partition_or_alternate(const Cluster& cluster, const Partition& partition);

}  // namespace sluice
