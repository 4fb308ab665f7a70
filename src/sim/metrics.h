// sim/metrics.h
//
// What one wants to know of a simulated queue: how long jobs waited, how busy the cluster was, what
// preemption cost.
#pragma once

#include <string>
#include <vector>

#include "sim/world.h"

namespace sluice {

// Jobs that were looked at together: all of them, an account's, those of a size.
struct Group {
    std::string name;
    std::size_t jobs = 0;                                 // that ran
    double wait_mean = 0, wait_median = 0, wait_p95 = 0;  // seconds
    double slowdown_mean = 0;                             // bounded, see kSlowdownBound
    double cpu_hours = 0, gpu_hours = 0;
};

struct Summary {
    Group all;
    std::vector<Group> accounts;  // by name
    std::vector<Group> sizes;     // by GPUs if the trace has any, else by CPUs
    bool by_gpus = false;
    std::size_t submitted = 0, refused = 0, never_started = 0, timed_out = 0, moved = 0;
    std::string first_refusal;  // job and reason
    std::size_t preemptions = 0;
    std::size_t cut_short = 0;  // by preemption, and did not run again
    double cpu_hours_lost = 0;
    double makespan = 0;              // seconds, from the first submission to the last end
    double cpu_use = 0, gpu_use = 0;  // of the makespan, 0 to 1
    bool has_gpus = false;
};

// Jobs of less than this would count for more than they are worth.
constexpr double kSlowdownBound = 10;

double wait_of(const TraceJob& job, const JobOutcome& outcome);
double slowdown_of(const TraceJob& job, const JobOutcome& outcome);

Summary summary_of(const Trace& trace, const Outcome& outcome);

}  // namespace sluice
