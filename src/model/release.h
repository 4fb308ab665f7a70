// model/release.h
//
// The release of Sluice. model/version.h has that of Slurm, which the tools print.
#pragma once

#include <string_view>

namespace sluice {

constexpr std::string_view kRelease = "0.1.0";

}  // namespace sluice
