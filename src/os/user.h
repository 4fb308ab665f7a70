// os/user.h
//
// Who a uid is on this machine.
#pragma once

#include <pwd.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct User {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
    std::string home;
    std::string shell;
    std::vector<gid_t> groups;    // filled by find_user_with_groups
    std::string group_name = {};  // of `gid`, where somebody has asked for it
};

User user_of(const passwd& entry);
std::optional<User> find_user(uid_t uid);
std::optional<User> find_user(const std::string& name);
// With every group the user is in; `gid` is the job's, which may differ from the login group.
std::optional<User> find_user_with_groups(uid_t uid, gid_t gid);
std::string group_name(gid_t gid);  // the number where it has none
// Everybody who is in it, also by their login group; nothing where there is no such group.
std::optional<std::vector<uid_t>> group_members(const std::string& name);

}  // namespace sluice
