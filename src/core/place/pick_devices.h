// core/place/pick_devices.h
//
// Chooses the devices of a job on one node, by number: on few sockets, close to free CPUs, well
// connected. Parts of GPUs (shard, mps) come from one GPU.
#pragma once

#include "core/place/select.h"
#include "core/place/sockets.h"

namespace sluice {

// The cores close to the devices that the job gets, empty if it makes no difference; absent: it
// cannot get them.
std::optional<std::vector<bool>> pick_devices(const Need& need, const Sockets& sockets,
                                              const Chosen& chosen,
                                              std::vector<NodeShare::Devices>& picked);

}  // namespace sluice
