// cli/sluice/lab.h
//
// sluice lab: the accounts, caps and members of labs. Prints the sacctmgr commands that do the
// same.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

// The words after "lab".
int run_lab(const Invocation& invocation, const std::vector<std::string>& words, Client& client,
            Streams& streams);

}  // namespace sluice
