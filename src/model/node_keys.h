// model/node_keys.h
//
// The keys of scontrol update NodeName=.
#pragma once

#include "base/result.h"
#include "model/key_values.h"
#include "model/node.h"

namespace sluice {

// An unknown key is refused with UnknownField; an error of a value says what is needed.
Result<NodeChange> parse_node_change(const KeyTexts& given);

}  // namespace sluice
