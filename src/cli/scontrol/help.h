// cli/scontrol/help.h
//
// scontrol's help.
#pragma once

#include <string_view>

namespace sluice {

extern const std::string_view kScontrolHelp;

}  // namespace sluice
