// core/job/job_stats.h
//
// The summary of a run that jobstats, reportseff and job_defense_shield read from AdminComment:
// "JS1:" and JSON, packed with gzip, in base 64.
#pragma once

#include <string>

#include "core/cluster.h"

namespace sluice {

// Empty: its nodes have reported nothing for it (GpuJobStats).
std::string job_stats(const Cluster& cluster, const Job& job);

}  // namespace sluice
