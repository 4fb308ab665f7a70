// os/busy.h
//
// Is this host busy right now? Then a process that polls for an answer takes a core from others.
#pragma once

#include <string_view>

namespace sluice {

// More processes want to run than there are cores for us. "0.52 0.30 0.10 3/175 8090": three do.
bool is_busy(std::string_view loadavg, int cores);
bool host_is_busy();

}  // namespace sluice
