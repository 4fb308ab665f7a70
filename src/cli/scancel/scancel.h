// cli/scancel/scancel.h
//
// Cancels or signals jobs, array tasks and steps: those named, or those that fit a filter.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_scancel(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
