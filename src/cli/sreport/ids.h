// cli/sreport/ids.h
//
// The numbers of users and groups that were named on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"

namespace sluice {

// By name or number. An error's detail names the one that there is not.
Result<std::vector<UserId>> user_ids(const std::vector<std::string>& names);
Result<std::vector<GroupId>> group_ids(const std::vector<std::string>& names);

}  // namespace sluice
