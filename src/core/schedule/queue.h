// core/schedule/queue.h
//
// Who waits. Jobs that could run as far as they themselves are concerned stand in the queue of each
// of their partitions; all others wait for a timer, a release or a change (parked).
#pragma once

#include <string>
#include <vector>

#include "core/cluster.h"

namespace sluice {

// Puts a pending job where it belongs at `now`: the queues, or a Begin timer, or nowhere (held).
void enqueue(Cluster& cluster, const Job& job, Time now);
void dequeue(Cluster& cluster, const Job& job);
// In this partition it waits for something other than a free place: out of its queue until a node,
// a partition or the configuration changes.
void park(Cluster& cluster, JobId id, const std::string& partition, Reason reason, std::string detail);
void unpark_all(Cluster& cluster, Time now);

std::vector<std::string> partitions_of(const Job& job);
std::uint64_t next_sluid(Cluster& cluster, const Job& job);

}  // namespace sluice
