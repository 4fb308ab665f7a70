// core/job/gpu_policy.h
//
// Jobs that do not use their GPUs, or hang: the user is warned, and an idle job may be requeued or
// cancelled (GpuIdleWarn and its relatives, keys of a partition).
#pragma once

#include "core/cluster.h"

namespace sluice {

void on_gpu_loads(Cluster& cluster, Time now, NodeIndex node, const GpuReport& report,
                  Effects& effects);

}  // namespace sluice
