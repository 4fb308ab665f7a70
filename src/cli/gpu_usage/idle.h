// cli/gpu_usage/idle.h
//
// GPU hours that users held without using them, from the accounting database.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/client/client.h"

namespace sluice {

// Hours. A GPU is unused while its utilisation is below kGpuIdlePercent.
struct IdleGpus {
    std::string name;  // of the user
    double held = 0;
    double unused = 0;
    double unknown = 0;  // held by runs that have not ended, or whose GPUs were not sampled
};

// Of jobs that ran in the time before `now`; those with the most unused hours first.
Result<std::vector<IdleGpus>> fetch_idle_gpus(Client& client, Time now, Seconds length,
                                              const std::optional<std::string>& partition);
std::string idle_json(const std::vector<IdleGpus>& users);

}  // namespace sluice
