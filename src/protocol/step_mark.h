// protocol/step_mark.h
//
// How a slurmd that comes back and a slurmstepd find and trust each other (stepd/order.proto).
#pragma once

#include <unistd.h>

#include <string>

namespace sluice {

// Where a slurmstepd listens.
inline std::string step_socket(const std::string& place) {
    return "sluice.step." + place;
}

// Where it takes the connections of sattach, which slurmd passes on.
inline std::string attach_socket(const std::string& place) {
    return "sluice.attach." + place;
}

// What marks are links to.
inline std::string mark_original(const std::string& spool) {
    return spool + "/mark";
}

// Anybody can call such a socket, or listen there.
inline bool is_one_of_us(uid_t peer) {
    return peer == 0 || peer == geteuid();
}

}  // namespace sluice
