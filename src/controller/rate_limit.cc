// controller/rate_limit.cc
#include "controller/rate_limit.h"

#include <algorithm>

namespace sluice {

void RateLimiter::refill(Bucket& bucket, const RateLimits& limits, Time now) {
    const auto periods = (now - bucket.filled) / limits.refill_period;
    if (periods <= 0) return;
    bucket.filled += periods * limits.refill_period;
    const auto missing = limits.bucket_size - std::min(bucket.tokens, limits.bucket_size);
    // Compared as periods: the product may overflow after a long pause.
    const auto until_full = missing / std::max(limits.refill_rate, 1u) + 1;
    if (periods >= until_full)
        bucket.tokens = limits.bucket_size;
    else
        bucket.tokens =
            std::min(limits.bucket_size,
                     bucket.tokens + static_cast<std::uint32_t>(periods) * limits.refill_rate);
}

// Removes users whose buckets are full again; if there are none, the user that was silent for the
// longest time.
void RateLimiter::make_room(const RateLimits& limits, Time now) {
    for (auto& [user, bucket] : buckets_) refill(bucket, limits, now);
    std::erase_if(buckets_,
                  [&](const auto& entry) { return entry.second.tokens >= limits.bucket_size; });
    if (buckets_.size() < limits.table_size) return;
    buckets_.erase(std::min_element(
        buckets_.begin(), buckets_.end(),
        [](const auto& a, const auto& b) { return a.second.filled < b.second.filled; }));
}

RateLimiter::Verdict RateLimiter::ask(UserId user, const RateLimits& limits, Time now) {
    if (!limits.enabled) return {};
    const std::lock_guard guard(mutex_);
    auto found = buckets_.find(user.value);
    if (found == buckets_.end()) {
        if (buckets_.size() >= limits.table_size) make_room(limits, now);
        found = buckets_.emplace(user.value, Bucket{limits.bucket_size, now}).first;
    }
    Bucket& bucket = found->second;
    refill(bucket, limits, now);
    if (bucket.tokens > 0) {
        --bucket.tokens;
        return {};
    }
    const bool is_news = limits.log_every &&
                         (bucket.logged == Time::min() || now - bucket.logged >= *limits.log_every);
    if (is_news) bucket.logged = now;
    return {.allowed = false, .is_news = is_news};
}

}  // namespace sluice
