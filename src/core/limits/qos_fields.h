// core/limits/qos_fields.h
//
// The fields of a quality of service that sacctmgr can set.
#pragma once

#include "core/cluster.h"

namespace sluice {

// An error leaves `qos` half changed: use it on drafts.
Result<void> set_qos_fields(const Cluster& cluster, Qos& qos, const Changes& changes);

}  // namespace sluice
