// See ids.h.
#include "cli/sreport/ids.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"
#include "os/user.h"

namespace sluice {

namespace {

std::optional<std::uint32_t> number_in(const std::string& name) {
    const std::optional<std::uint64_t> number = to_number(name);
    if (!number || *number > 0xffffffff) return {};
    return static_cast<std::uint32_t>(*number);
}

}  // namespace

Result<std::vector<UserId>> user_ids(const std::vector<std::string>& names) {
    std::vector<UserId> ids;
    for (const std::string& name : names) {
        std::optional<std::uint32_t> id = number_in(name);
        if (!id) {
            if (const auto user = find_user(name)) id = user->uid;
        }
        if (!id) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("sreport: error: Invalid user id: {}", name)};
        }
        ids.push_back(UserId{*id});
    }
    return ids;
}

Result<std::vector<GroupId>> group_ids(const std::vector<std::string>& names) {
    std::vector<GroupId> ids;
    for (const std::string& name : names) {
        std::optional<std::uint32_t> id = number_in(name);
        if (!id) id = find_group(name);
        if (!id) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("sreport: error: Invalid group id: {}", name)};
        }
        ids.push_back(GroupId{*id});
    }
    return ids;
}

}  // namespace sluice
