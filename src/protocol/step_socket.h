// protocol/step_socket.h
//
// Where a slurmstepd listens for a slurmd that comes back (stepd/order.proto).
#pragma once

#include <string>

namespace sluice {

inline std::string step_socket(const std::string& place) {
    return "sluice.step." + place;
}

}  // namespace sluice
