// surface/names.h
//
// Names of users and groups, each asked for once.
#pragma once

#include <map>
#include <string>

#include "model/ids.h"

namespace sluice {

class Names {
public:
    // The number where there is no name.
    const std::string& user(UserId id);
    const std::string& group(GroupId id);
    // The full name of a user ("Proper Name" of sreport); empty where there is none.
    const std::string& full_name(const std::string& login);

private:
    std::map<UserId, std::string> users_;
    std::map<GroupId, std::string> groups_;
    std::map<std::string, std::string> full_names_;
};

}  // namespace sluice
