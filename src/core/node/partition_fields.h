// core/node/partition_fields.h
//
// What scontrol create and update PartitionName= may set. Each field takes effect at once; what
// has none here is refused by its name.
#pragma once

#include <string>

#include "base/result.h"
#include "model/node.h"

namespace sluice {

// The error names key and value. Whether nodes and partitions that are named exist is not asked
// here.
Result<void> set_partition_field(PartitionConfig& config, const std::string& key,
                                 const std::string& value);

}  // namespace sluice
