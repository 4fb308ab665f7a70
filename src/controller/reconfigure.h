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

// Reads it and checks it against what runs. The event puts the new configuration in force: first
// for the core, and once that is written for the shell and the nodes. Blocking.
Result<Incoming> prepare_reconfigure(Services& services, RequestId request, const Caller& caller);

}  // namespace sluice
