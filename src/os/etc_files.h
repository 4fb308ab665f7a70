// os/etc_files.h
//
// Users and groups as /etc/passwd and /etc/group have them, for programs that cannot ask NSS
// (os/twin.h). Nothing is found, too, where nsswitch.conf does not give these files the first word:
// then somebody else has to be asked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "os/user.h"

namespace sluice {

// Whether nsswitch.conf says that what the file knows about, say, "passwd" is the answer.
bool files_come_first(std::string_view nsswitch, std::string_view database);

std::optional<User> find_user_in_files(const std::function<bool(const passwd&)>& is_wanted);
std::optional<std::string> find_group_in_files(gid_t gid);

}  // namespace sluice
