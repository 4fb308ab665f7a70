// cli/sinfo/help.h
//
// sinfo's --help and --usage.
#pragma once

#include <string_view>

namespace sluice {

extern const std::string_view kSinfoHelp;
extern const std::string_view kSinfoUsage;

}  // namespace sluice
