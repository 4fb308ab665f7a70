// controller/reconfigure.h
//
// Reads slurm.conf again while the cluster runs: `scontrol reconfigure` and SIGHUP.
#pragma once

#include <memory>
#include <string>

#include "controller/services.h"

namespace sluice {

// slurm.conf with values that are looked up once for it.
Result<std::shared_ptr<const LiveConfig>> load_live_config(const std::string& path);

// Logs QOS= of partitions that sacctmgr has not added.
void warn_of_unknown_qos(const Settings& settings, const Snapshot& snapshot);

// Reads it and checks it against running jobs. The event puts the new configuration in force: first
// for the core, and once that is committed for the shell and the nodes. Blocking.
Result<Incoming> prepare_reconfigure(Services& services, RequestId request, const Caller& caller);

}  // namespace sluice
