// agent/gpu_words.h
//
// What the processes of a step are told about its GPUs, by Flags= of gres.conf and what was found
// on this node.
#pragma once

#include "agent/site.h"
#include "order.pb.h"

namespace sluice {

// `share` has the node's own numbers.
wire::GpuWords gpu_words(const Site& site, const wire::NodeShare& share);

}  // namespace sluice
