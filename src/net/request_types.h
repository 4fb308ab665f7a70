// net/request_types.h
//
// The types of messages that slurmctld and slurmdbd receive, as sdiag and sacctmgr show stats name
// them: by Slurm's name and number where Slurm has such a message, since exporters know those.
// Others have numbers from 20000 on.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire.pb.h"

namespace sluice {

struct RequestType {
    std::string_view name;
    std::uint32_t number = 0;
};

const RequestType& type_of(const wire::Request& request);
const RequestType& type_of(const wire::AgentReport& report);

}  // namespace sluice
