// auth/replay_cache.h
//
// The nonces of credentials that were accepted and have not expired: none is accepted twice. Only
// nonces whose signature was checked are asked about, so strangers cannot fill it. May be used by
// several threads. Memory only: after a restart a credential could be used again until it expires,
// which is why lifetimes are short.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <unordered_set>

#include "base/time.h"

namespace sluice {

class ReplayCache {
public:
    explicit ReplayCache(std::size_t capacity = 1u << 20) : capacity_(capacity) {}

    enum class Verdict { Fresh, Seen, Full };
    // Remembers the nonce until it expires. When full of living ones nothing more is accepted:
    // forgetting one early would let it be used again.
    Verdict use(const std::string& nonce, Time expires, Time now);

private:
    const std::size_t capacity_;
    std::mutex mutex_;
    std::unordered_set<std::string> seen_;
    std::multimap<Time, std::string> by_expiry_;
};

}  // namespace sluice
