// model/partition_keys.h
//
// The keys of a partition: one table for the PartitionName lines of slurm.conf, for scontrol create
// and update PartitionName=, and for the reference of the keys.
#pragma once

#include <span>

#include "base/result.h"
#include "model/key_values.h"
#include "model/partition_fields.h"

namespace sluice {

std::span<const Key<PartitionChange>> partition_keys();

// The keys of scontrol create and update. An unknown key is refused (UnknownField); an error of a
// value (BadArgument) says what is needed: "MaxNodes=many: a number or UNLIMITED is needed".
Result<PartitionChange> parse_partition_change(const KeyTexts& given);

}  // namespace sluice
