#include "controller/groups.h"

#include "os/user.h"

namespace sluice {

std::vector<std::string> GroupNames::of(UserId user, GroupId group, Seconds age_max, Time now) {
    auto found = known_.find({user, group});
    if (found != known_.end() && now < found->second.asked + age_max) return found->second.names;
    Known known{{}, now};
    const auto entry = find_user_with_groups(user.value, group.value);
    if (entry && *entry) {
        for (gid_t gid : (*entry)->groups) known.names.push_back(group_name(gid));
    }
    return (known_[{user, group}] = std::move(known)).names;
}

}  // namespace sluice
