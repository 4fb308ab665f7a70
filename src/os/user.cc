#include "os/user.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "os/error.h"

namespace sluice {

namespace {

User user_of(const passwd& entry) {
    return User{entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir, entry.pw_shell, {}};
}

}  // namespace

// As getpwuid(3) lists them: name services do not agree.
bool means_no_such_user(int number) {
    return number == 0 || number == ENOENT || number == ESRCH || number == EBADF || number == EPERM;
}

// `ask`: a getpw*_r function, with all but what it is asked for.
template <typename Ask>
static Result<std::optional<User>> ask_for_user(Ask ask) {
    constexpr std::size_t kEntryMost = 1024 * 1024;
    std::vector<char> buffer(16 * 1024);
    passwd entry{};
    passwd* found = nullptr;
    int number = ask(&entry, buffer.data(), buffer.size(), &found);
    while (number == ERANGE && buffer.size() < kEntryMost) {
        buffer.resize(buffer.size() * 4);
        number = ask(&entry, buffer.data(), buffer.size(), &found);
    }
    if (found) return std::optional<User>(user_of(*found));
    if (means_no_such_user(number)) return std::optional<User>();
    return os_error("the user database", number);
}

Result<std::optional<User>> look_up_user(uid_t uid) {
    return ask_for_user([&](auto... rest) { return getpwuid_r(uid, rest...); });
}

Result<std::optional<User>> look_up_user(const std::string& name) {
    return ask_for_user([&](auto... rest) { return getpwnam_r(name.c_str(), rest...); });
}

std::optional<User> find_user(uid_t uid) {
    Result<std::optional<User>> user = look_up_user(uid);
    return user ? std::move(*user) : std::nullopt;
}

std::optional<User> find_user(const std::string& name) {
    Result<std::optional<User>> user = look_up_user(name);
    return user ? std::move(*user) : std::nullopt;
}

std::optional<User> find_listed_user(std::string_view wanted, const std::string& file) {
    const std::unique_ptr<FILE, int (*)(FILE*)> open(fopen(file.c_str(), "re"), fclose);
    if (!open) return {};
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(16 * 1024);
    while (fgetpwent_r(open.get(), &entry, buffer.data(), buffer.size(), &found) == 0) {
        if (wanted == entry.pw_name || wanted == fmt::format("{}", entry.pw_uid))
            return user_of(entry);
    }
    return {};
}

Result<std::optional<User>> find_user_with_groups(uid_t uid, gid_t gid) {
    std::optional<User> user = TRY(look_up_user(uid));
    if (!user) return user;
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
    group entry{};
    group* found = nullptr;
    std::vector<char> buffer(64 * 1024);
    getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
    return found ? found->gr_name : fmt::format("{}", gid);
}

std::string full_name(const std::string& login) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(64 * 1024);
    getpwnam_r(login.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (!found || !found->pw_gecos) return {};
    const std::string comment = found->pw_gecos;
    return comment.substr(0, comment.find(','));
}

std::optional<gid_t> find_group(const std::string& name) {
    group entry{};
    group* found = nullptr;
    std::vector<char> buffer(1024 * 1024);
    getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (!found) return {};
    return found->gr_gid;
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
