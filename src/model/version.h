// model/version.h
//
// The release of Slurm whose behaviour and layouts the programs follow. Clients parse it.
#pragma once

#include <string_view>

namespace sluice {

constexpr std::string_view kVersionLine = "slurm 26.05.3";  // what -V prints
constexpr std::string_view kSlurmVersion = kVersionLine.substr(6);

}  // namespace sluice
