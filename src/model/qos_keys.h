// model/qos_keys.h
//
// The keys of a quality of service that sacctmgr can set.
#pragma once

#include "base/result.h"
#include "model/key_values.h"
#include "model/qos.h"

namespace sluice {

// A key may end in + or -: "Preempt+". An unknown key is refused with NotFound, a wrong value with
// BadArgument. Does not check whether QOS and devices with these names exist.
Result<QosChange> parse_qos_change(const KeyTexts& given);

}  // namespace sluice
