// core/schedule/fair_share.h
//
// What accounting tells the scheduler about associations: a plain table, empty where nothing is
// accounted for. It is replaced as a whole, never changed in place.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "model/job.h"

namespace sluice {

struct FairShare {
    struct Association {
        double factor = 0;    // fair-share, 0 to 1
        double priority = 0;  // sacctmgr's Priority
    };
    std::map<std::pair<std::string, UserId>, Association> associations;  // by account and user

    Association of(const std::string& account, UserId user) const {
        auto found = associations.find({account, user});
        return found == associations.end() ? Association{} : found->second;
    }
};

}  // namespace sluice
