// model/sampling.h
//
// How often slurmstepd samples what tasks use: JobAcctGatherFrequency of slurm.conf, and
// --acctg-freq of a job or step.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace sluice {

constexpr Seconds kSamplingDefault{30};

// "15", "task=15", "task=15,energy=60". Only the interval of tasks is used; those of energy,
// network and filesystem are checked and mean nothing here. Absent: not named. Zero: only at the
// end.
Result<std::optional<Seconds>> parse_task_sampling(std::string_view text);

}  // namespace sluice
