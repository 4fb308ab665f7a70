// See names.h.
#include "surface/names.h"

#include "os/user.h"

namespace sluice {

const std::string& Names::user(UserId id) {
    auto [place, is_new] = users_.try_emplace(id);
    if (is_new) {
        const auto found = find_user(id.value);
        place->second = found ? found->name : std::to_string(id.value);
    }
    return place->second;
}

const std::string& Names::group(GroupId id) {
    auto [place, is_new] = groups_.try_emplace(id);
    if (is_new) place->second = group_name(id.value);
    return place->second;
}

const std::string& Names::full_name(const std::string& login) {
    auto [place, is_new] = full_names_.try_emplace(login);
    if (is_new) place->second = sluice::full_name(login);
    return place->second;
}

}  // namespace sluice
