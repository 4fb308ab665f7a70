#include "controller/known_users.h"

#include <algorithm>

#include "base/log.h"
#include "model/errors.h"
#include "os/user.h"

namespace sluice {
namespace {

constexpr Seconds kUnknownFor{5};
constexpr std::size_t kUsersMost = 100'000;  // root may submit for any uid

}  // namespace

std::optional<bool> KnownUsers::remembered(UserId user, Seconds age_max, Time now) const {
    const std::lock_guard guard(mutex_);
    const auto found = users_.find(user.value);
    if (found == users_.end()) return std::nullopt;
    const Seconds most = found->second.exists ? age_max : std::min(age_max, kUnknownFor);
    const bool is_fresh = found->second.asked <= now && now < found->second.asked + most;
    return is_fresh ? std::optional(found->second.exists) : std::nullopt;
}

bool KnownUsers::look_up(UserId user, Time now) {
    const auto found = look_up_user(user.value);
    if (!found) {
        log_noise(LogLevel::Error, "uid {} cannot be looked up, and is taken to exist: {}",
                  user.value, to_string(found.error()));
        return true;
    }
    const std::lock_guard guard(mutex_);
    if (users_.size() >= kUsersMost) users_.clear();
    users_[user.value] = {found->has_value(), now};
    return found->has_value();
}

void KnownUsers::forget() {
    const std::lock_guard guard(mutex_);
    users_.clear();
}

}  // namespace sluice
