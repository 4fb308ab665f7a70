// node/run_key.h
//
// One step of one run of one job: what a supervisor (slurmstepd) looks after. A requeued job runs
// again under the same id.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "model/run.h"

namespace sluice {

struct JobKey {
    JobId job;
    std::uint32_t restarts = 0;
    auto operator<=>(const JobKey&) const = default;
};

struct RunKey {
    JobKey job;
    StepId step = kBatchStep;
    auto operator<=>(const RunKey&) const = default;
};

inline RunKey key_of(const RunId& run) {
    return {{run.job, run.restarts}, run.step};
}
inline RunId run_id(const RunKey& key) {
    return {key.job.job, key.job.restarts, key.step};
}
inline RunKey batch_of(const JobKey& job) {
    return {job, kBatchStep};
}

// The container of the job: PrologFlags=Contain.
inline RunKey extern_of(const JobKey& job) {
    return {job, kExternStep};
}

std::string print_run(const RunKey& key);  // "12.batch", "12.0"

}  // namespace sluice
