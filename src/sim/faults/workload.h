// sim/faults/workload.h
//
// Jobs and demands at random, small enough for the nodes of a fault world.
#pragma once

#include <memory>
#include <vector>

#include "core/event.h"
#include "core/settings.h"
#include "sim/faults/machine.h"

namespace sluice {

// QOS and, of the first, a partition: whose jobs take the place of others.
constexpr const char* kUrgent = "urgent";
constexpr const char* kPatient = "patient";

Settings random_settings(Dice& random, std::uint32_t nodes, bool with_preemption);
std::shared_ptr<const JobRequest> random_request(Dice& random, std::uint32_t nodes,
                                                 bool with_preemption);
// The same for the same job, whichever run of it asks.
Script random_script(std::uint64_t seed, const RunKey& run, bool wide);

// ---- wide worlds (demands.cc)

// One more partition, licences, what is needed to reboot.
void widen(Dice& random, Settings& settings);
// Other slurm.conf's for the same machines: nodes and partitions come and go.
Settings changed(Dice& random, Settings settings);
// The same job with a demand more: licences, a reservation, jobs to wait for, to be interactive.
std::shared_ptr<const JobRequest> widened(Dice& random, const JobRequest& request,
                                          const std::vector<JobId>& known);
StepDemand random_step(Dice& random, JobId job);
ReservationChange random_reservation(Dice& random, Time now, std::uint32_t nodes);

}  // namespace sluice
