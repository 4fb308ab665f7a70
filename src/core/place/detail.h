// core/place/detail.h
//
// Which CPUs and which devices of a chosen node? By number: nothing is handed out twice, devices
// and the CPUs close to them go together where that can be had.
#pragma once

#include "core/place/select.h"

namespace sluice {

// What the job gets on the node; absent when counts alone promised too much (sockets, bindings).
std::optional<NodeShare> share_on(const Need& need, const NodeKind& kind, const Node& node,
                                  const Chosen& chosen);

}  // namespace sluice
