// auth/validity.h
//
// Common to tokens and launch credentials: time of issue, expiry, and a nonce that is accepted
// once.
#pragma once

#include <string>
#include <string_view>

#include "auth/replay_cache.h"
#include "base/result.h"
#include "base/time.h"

namespace sluice {

constexpr std::size_t kNonceSize = 16;
std::string make_nonce();

struct Validity {
    std::string_view what;  // "token", "launch credential": for the error
    std::int64_t issued = 0;
    std::int64_t expires = 0;
};

// Is `now` in it? A credential from the future means that a clock is wrong.
Result<void> check_validity(const Validity& validity, Time now);
// Has it been used before? Checked last, so that a credential that is refused is not used up.
Result<void> check_replay(const Validity& validity, const std::string& nonce, Time now,
                          ReplayCache& cache);

}  // namespace sluice
