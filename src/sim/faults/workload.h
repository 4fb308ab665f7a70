// sim/faults/workload.h
//
// Jobs at random, small enough for the nodes of a fault world.
#pragma once

#include <memory>

#include "core/settings.h"
#include "sim/faults/machine.h"
#include "sim/random.h"

namespace sluice {

// Preemption draws its numbers from a copy: what else happens is the same with it and without.
Settings random_settings(Random& random, std::uint32_t nodes, bool with_preemption);
std::shared_ptr<const JobRequest> random_request(Random& random, std::uint32_t nodes, bool with_preemption);
// The same for the same job, whichever run of it asks.
Script random_script(std::uint64_t seed, JobId job);

}  // namespace sluice
