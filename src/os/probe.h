// os/probe.h
//
// Can this host look up other hosts by name, and connect to their ports? Many at once: a name
// server or a host that does not respond delays only its own answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

struct ProbeTarget {
    std::string host;  // name or address
    std::uint16_t port = 0;
};

struct ProbeResult {
    bool is_resolved = false;
    bool is_connected = false;
    std::string why;  // the first of them that has failed
};

// By TCP, never by a Unix socket. In the order of the targets.
std::vector<ProbeResult> probe_tcp(const std::vector<ProbeTarget>& targets,
                                   std::chrono::milliseconds timeout);

}  // namespace sluice
