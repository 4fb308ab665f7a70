// cli/sluice/doctor_cluster.h
//
// Checks of this host against the controller and the other hosts.
#pragma once

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/sluice/doctor_report.h"

namespace sluice {

struct DoctorNode {
    std::string name, address, version, gres, reason;
    std::uint16_t port = 0;
    bool is_here = false;  // its slurmd belongs on this host
    bool is_down = false;
};

// All of it. The nodes that belong on this host; none where the controller does not respond.
std::vector<DoctorNode> check_cluster(DoctorReport& report, Client& client, const Config& config);

}  // namespace sluice
