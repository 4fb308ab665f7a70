// See known_users.h.
#include "agent/known_users.h"

namespace sluice {

void KnownUsers::remember(const wire::UserRecord& user, Moment now) {
    known_[{user.user(), user.group()}] = {user, now};
}

const wire::UserRecord* KnownUsers::find(std::uint32_t user, std::uint32_t group,
                                         std::chrono::seconds age_max, Moment now) const {
    auto found = known_.find({user, group});
    if (found == known_.end() || now - found->second.since >= age_max) return nullptr;
    return &found->second.user;
}

}  // namespace sluice
