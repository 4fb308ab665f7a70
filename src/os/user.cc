#include "os/user.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "os/etc_files.h"
#include "os/twin.h"

namespace sluice {

User user_of(const passwd& entry) {
    return User{entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir, entry.pw_shell, {}};
}

std::optional<User> find_user(uid_t uid) {
    if (is_static_program()) {
        std::optional<User> user =
            find_user_in_files([&](const passwd& entry) { return entry.pw_uid == uid; });
        if (user || !may_use_plugins()) return user;
    }
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(16 * 1024);
    getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    if (!found) return {};
    return user_of(*found);
}

std::optional<User> find_user(const std::string& name) {
    if (is_static_program()) {
        std::optional<User> user =
            find_user_in_files([&](const passwd& entry) { return entry.pw_name == name; });
        if (user || !may_use_plugins()) return user;
    }
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(16 * 1024);
    getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (!found) return {};
    return user_of(*found);
}

std::optional<User> find_user_with_groups(uid_t uid, gid_t gid) {
    std::optional<User> user = find_user(uid);
    if (!user) return {};
    user->gid = gid;
    int count = 64;
    user->groups.resize(64);
    if (getgrouplist(user->name.c_str(), gid, user->groups.data(), &count) < 0) {
        user->groups.resize(static_cast<std::size_t>(count));
        getgrouplist(user->name.c_str(), gid, user->groups.data(), &count);
    }
    user->groups.resize(static_cast<std::size_t>(count));
    return user;
}

std::string group_name(gid_t gid) {
    if (is_static_program()) {
        std::optional<std::string> name = find_group_in_files(gid);
        if (name || !may_use_plugins()) return name.value_or(fmt::format("{}", gid));
    }
    group entry{};
    group* found = nullptr;
    std::vector<char> buffer(64 * 1024);
    getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
    return found ? found->gr_name : fmt::format("{}", gid);
}

std::optional<std::vector<uid_t>> group_members(const std::string& name) {
    group entry{};
    group* found = nullptr;
    std::vector<char> buffer(1024 * 1024);
    getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (!found) return {};
    std::vector<uid_t> members;
    for (char** member = found->gr_mem; *member; ++member) {
        if (std::optional<User> user = find_user(std::string(*member)))
            members.push_back(user->uid);
    }
    setpwent();
    passwd person{};
    passwd* next = nullptr;
    std::vector<char> names(16 * 1024);
    while (getpwent_r(&person, names.data(), names.size(), &next) == 0 && next) {
        bool listed = std::find(members.begin(), members.end(), person.pw_uid) != members.end();
        if (person.pw_gid == found->gr_gid && !listed) members.push_back(person.pw_uid);
    }
    endpwent();
    return members;
}

}  // namespace sluice
