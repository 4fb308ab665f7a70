// controller/rate_limit.h
//
// SlurmctldParameters=rl_enable: each user has a bucket of tokens, every request takes one, and the
// bucket is refilled at a steady rate. A request without a token is refused with
// ErrorCode::RateLimited; commands wait for a second and ask again. Thread-safe.
#pragma once

#include <chrono>
#include <mutex>
#include <unordered_map>

#include "config/config.h"
#include "model/job.h"

namespace sluice {

class RateLimiter {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Verdict {
        bool allowed = true;
        bool is_news = false;  // refused, and rl_log_freq asks for a log line
    };
    Verdict ask(UserId user, const RateLimits& limits, Time now);

private:
    struct Bucket {
        std::uint32_t tokens = 0;
        Time filled;  // the last time that tokens were added
        Time logged = Time::min();
    };
    static void refill(Bucket& bucket, const RateLimits& limits, Time now);
    void make_room(const RateLimits& limits, Time now);

    std::mutex mutex_;
    std::unordered_map<std::uint32_t, Bucket> buckets_;  // by user; absent: full
};

}  // namespace sluice
