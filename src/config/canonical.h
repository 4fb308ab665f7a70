// config/canonical.h
//
// What slurm.conf says, without what makes no difference: comments, blanks, the spelling of keys
// and the division into files. Hosts with the same text have the same configuration.
#pragma once

#include <string>

#include "base/result.h"

namespace sluice {

Result<std::string> canonical_config(const std::string& path);

}  // namespace sluice
