// cli/sluice/doctor.h
//
// `sluice doctor`: what is wrong on this host, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

// `words`: --json, and directories to look for small files in.
int run_doctor(const Invocation& invocation, const std::vector<std::string>& words, Client& client,
               Streams& streams);

}  // namespace sluice
