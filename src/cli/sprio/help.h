// cli/sprio/help.h
//
// sprio's --help and --usage.
#pragma once

#include <string_view>

namespace sluice {

extern const std::string_view kSprioHelp;
extern const std::string_view kSprioUsage;

}  // namespace sluice
