// cli/sacctmgr/summary.h
//
// What sacctmgr prints of a change before it asks for confirmation.
#pragma once

#include <string>
#include <vector>

#include "policy/apply.h"

namespace sluice {

// `words` are those of the command, whose settings of QOS are shown as they were typed.
std::string summary_of(const PolicyStep& step, const PolicyOutcome& outcome,
                       const std::vector<std::string>& words);
// "  Fairshare     = 5" for each limit of the change.
std::string print_settings(const AssociationChange& limits, const std::string& parent = {});

}  // namespace sluice
