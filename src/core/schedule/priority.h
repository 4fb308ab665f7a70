// core/schedule/priority.h
//
// The priority of waiting jobs. Under priority/basic it counts down, so that earlier jobs come
// first; under priority/multifactor it is the weighted sum of factors between 0 and 1. What the
// factors are measured against, and when, is the scale: one value per configuration and
// calculation, shared with snapshots, so that listings show exactly what the queue is ordered by.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"
#include "core/schedule/accrual.h"
#include "model/priority.h"

namespace sluice {

struct PartitionScale {
    std::string name;
    double factor = 0;                // PriorityJobFactor against the highest
    std::vector<double> tres_totals;  // of what PriorityWeightTRES names, in that order
};

struct PriorityScale {
    std::shared_ptr<const Settings> settings;
    std::shared_ptr<const std::vector<Partition>> cluster_partitions;
    std::shared_ptr<const FairShare> shares;
    std::shared_ptr<const AccrueTimes> accrues;  // which jobs gain by age; null: all
    Time time;                                   // of the last calculation: ages are as of then
    double nodes = 1, cpus = 1;                  // of the whole cluster
    std::vector<PartitionScale> partitions;
    std::map<std::string, double, std::less<>> qos;
    double assoc_top = 1;
    // PriorityFlags
    bool accrue_always = false, calculate_running = false, incr_only = false;
    bool small_relative_to_time = false, raw_tres = false;

    const PrioritySettings& weights() const { return settings->priority; }
    const PartitionScale* find_partition(std::string_view name) const;
};

PriorityScale make_scale(const Cluster& cluster, Time now);

// For a job that waits in `partition`, one of its own. Factors without a weight are 0.
PriorityFactors factors_of(const PriorityScale& scale, const Job& job, std::string_view partition);
// Rounded, and never the priority of a held job.
std::uint32_t priority_of(double total);
// A job that waits in several partitions has a priority in each; Job::priority is the highest.
std::uint32_t priority_in(const PriorityScale& scale, const Job& job, std::string_view partition);

// False for held jobs and for jobs whose priority was set by hand.
bool is_calculated(const Job& job);

// A new job's: as asked for, 0 when it is held, else calculated.
void set_first_priority(const Cluster& cluster, Job& job);
// The highest of its partitions, whatever it was before. The job must not be in the queue.
void calculate_priority(const Cluster& cluster, Job& job);
// Sets the priority of a waiting job and moves it in the queues.
void place_in_queue(Cluster& cluster, JobId id, std::uint32_t priority);
// The factors of all associations: policy or usage have changed.
void renew_fair_share(Cluster& cluster);
// All waiting jobs: age and fair-share have changed or, `anew`, the configuration.
void reprioritize_all(Cluster& cluster, Time now, bool anew);

// PriorityCalcPeriod: sets the timer of the next calculation, where factors change with time.
void watch_priorities(Cluster& cluster, Time now);
void on_priority_timer(Cluster& cluster, Time now, const Timer& timer);

}  // namespace sluice
