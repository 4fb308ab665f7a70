// model/ids.h
//
// Numbers that name users, groups and nodes. Jobs and steps: model/job_id.h.
#pragma once

#include "base/id.h"

namespace sluice {

using UserId = Id<struct UserIdTag>;
using GroupId = Id<struct GroupIdTag>;
using NodeIndex = Id<struct NodeIndexTag>;

}  // namespace sluice
