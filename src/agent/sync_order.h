// agent/sync_order.h
//
// What the processes that copy the checkpoints of a job must know, from the order to launch it.
#pragma once

#include "agent/run_key.h"
#include "base/result.h"
#include "order.pb.h"

namespace sluice {

// "<spool>/job00012/sync.0"
std::string sync_path(std::string_view spool, const JobKey& key);

// The place of the node among those of its job, from 0: the node of the script.
std::uint32_t rank_in_job(const wire::JobAllocation& facts, const std::string& node);

// Of a batch script or a step of a job with --sync. Each node but that of the script has a
// directory of its own below the persistent one: node.1, node.2, ... The error says which option is
// wrong.
Result<wire::SyncOrder> sync_order(const wire::StepOrder& order, const wire::JobAllocation& facts);

}  // namespace sluice
