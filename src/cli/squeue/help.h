// cli/squeue/help.h
//
// squeue's --help and --usage.
#pragma once

#include <string_view>

namespace sluice {

extern const std::string_view kSqueueHelp;
extern const std::string_view kSqueueUsage;

}  // namespace sluice
