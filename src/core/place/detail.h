// core/place/detail.h
//
// Chooses the CPUs and devices of a chosen node, by number: nothing is given out twice, and devices
// and the CPUs close to them go together where possible.
#pragma once

#include "core/place/select.h"

namespace sluice {

// What the job gets on the node; absent if counts alone promised too much (sockets, bindings).
std::optional<NodeShare> share_on(const Need& need, const NodeKind& kind, const Node& node,
                                  const Chosen& chosen);

}  // namespace sluice
