// auth/replay_cache.cc
//
// See replay_cache.h.
#include "auth/replay_cache.h"

namespace sluice {

ReplayCache::Verdict ReplayCache::use(const std::string& nonce, Time expires, Time now) {
    const std::lock_guard lock(mutex_);
    while (!by_expiry_.empty() && by_expiry_.begin()->first < now) {
        seen_.erase(by_expiry_.begin()->second);
        by_expiry_.erase(by_expiry_.begin());
    }
    if (seen_.contains(nonce)) return Verdict::Seen;
    if (seen_.size() >= capacity_) return Verdict::Full;
    seen_.insert(nonce);
    by_expiry_.emplace(expires, nonce);
    return Verdict::Fresh;
}

}  // namespace sluice
