// core/place/pools.h
//
// The generic resources of a node: devices by number, parts of GPUs, and things that are only
// counted. What is in use is kept when the configuration changes.
#pragma once

#include "core/cluster.h"

namespace sluice {

// (Re)reads Gres= and what the node reports about its devices, or gres.conf until it has reported.
// Returns whether something changed.
bool configure_gres(Node& node, const Settings& settings);

// GPUs that are out of service, by their number on the node.
void mark_drained(std::vector<GresPool>& pools, const std::vector<DrainedGpu>& drained);
std::uint64_t count_drained(const GresPool& pool);  // that no job holds any more
std::uint64_t count_free(const GresPool& pool);

// Devices and parts of GPUs, by number. Giving back is the opposite of taking; both CHECK.
void set_gres(Node& node, const NodeShare& share, bool taken);

// Adds parts of a GPU, whose numbers stay in order.
void add_part(NodeShare::Devices& devices, std::uint32_t index, std::uint32_t count);

// Whether the device can be given out: it is not taken, neither as a whole nor in parts.
bool is_free(const Node& node, const GresPool& pool, std::uint32_t slot);
// How many parts of the GPU can be given out: none if the GPU is taken, as a whole or in parts of
// another name.
std::uint64_t free_parts(const Node& node, const GresPool& pool, std::uint32_t slot);

}  // namespace sluice
