// core/node/partition_fields.h
//
// What scontrol create and update PartitionName= may set. Each field takes effect at once; unknown
// fields are refused by name.
#pragma once

#include <string>

#include "base/result.h"
#include "model/node.h"

namespace sluice {

// The error names key and value. Does not check whether named nodes and partitions exist.
Result<void> set_partition_field(PartitionConfig& config, const std::string& key,
                                 const std::string& value);

}  // namespace sluice
