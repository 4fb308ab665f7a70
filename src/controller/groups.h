// controller/groups.h
//
// The group names of users who submit, for AllowGroups of partitions. Looked up here, not taken
// from the client, and cached for GroupUpdateTime or until the configuration is read again. For one
// thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/job.h"

namespace sluice {

class GroupNames {
public:
    std::vector<std::string> of(UserId user, GroupId group, Seconds age_max, Time now);
    void forget() { known_.clear(); }  // they may have changed

private:
    struct Known {
        std::vector<std::string> names;
        Time asked;
    };
    std::map<std::pair<UserId, GroupId>, Known> known_;
};

}  // namespace sluice
