// controller/reconfigure.h
//
// slurm.conf read again while the cluster runs: `scontrol reconfigure` and SIGHUP.
#pragma once

#include <memory>
#include <string>

#include "controller/services.h"

namespace sluice {

// slurm.conf with what is looked up once for it.
Result<std::shared_ptr<const LiveConfig>> load_live_config(const std::string& path);

// QOS= of partitions that sacctmgr has not added: said in the log.
void warn_of_unknown_qos(const Settings& settings, const Snapshot& snapshot);

// Reads, checks against what runs, and puts the new configuration in force for the shell; the
// event does it for the core. Blocking.
Result<Incoming> prepare_reconfigure(Services& services, RequestId request, const Caller& caller);

}  // namespace sluice
