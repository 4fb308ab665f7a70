// os/user.h
//
// Who a uid is on this machine.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

struct User {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
    std::string home;
    std::string shell;
    std::vector<gid_t> groups;    // filled by find_user_with_groups
    std::string group_name = {};  // of `gid`, filled only on request
};

// Nothing: there is no such user. An error: the user database could not be read, so it is unknown
// whether the user exists.
Result<std::optional<User>> look_up_user(uid_t uid);
Result<std::optional<User>> look_up_user(const std::string& name);
// The same where it makes no difference.
std::optional<User> find_user(uid_t uid);
std::optional<User> find_user(const std::string& name);
// By name or number in a file of the form of /etc/passwd, without asking the name services.
std::optional<User> find_listed_user(std::string_view wanted,
                                     const std::string& file = "/etc/passwd");
// With every group the user is in; `gid` is the job's, which may differ from the login group.
Result<std::optional<User>> find_user_with_groups(uid_t uid, gid_t gid);
// A getpw*_r function has found no user and returned `number`: does it mean that there is none?
bool means_no_such_user(int number);
std::string group_name(gid_t gid);  // the number where it has none
// The first part of the comment field of the user database; empty where there is none.
std::string full_name(const std::string& login);
std::optional<gid_t> find_group(const std::string& name);
// All members, also those by login group; nothing if there is no such group.
std::optional<std::vector<uid_t>> group_members(const std::string& name);

}  // namespace sluice
