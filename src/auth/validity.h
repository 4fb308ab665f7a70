// auth/validity.h
//
// What tokens and launch credentials have in common: a time from which, a time until which, and a
// nonce that may be used once.
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
// Has it been used before? Asked last, when everything else is right: a refusal uses nothing up.
Result<void> check_replay(const Validity& validity, const std::string& nonce, Time now,
                          ReplayCache& cache);

}  // namespace sluice
