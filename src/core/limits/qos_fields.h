// core/limits/qos_fields.h
//
// What can be set of a quality of service, by sacctmgr's words.
#pragma once

#include "core/cluster.h"

namespace sluice {

// An error leaves it half changed: for drafts.
Result<void> set_qos_fields(const Cluster& cluster, Qos& qos, const Changes& changes);

}  // namespace sluice
