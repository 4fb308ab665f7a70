// auth/validity.cc
//
// See validity.h.
#include "auth/validity.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "auth/identity.h"
#include "base/check.h"
#include "model/errors.h"

namespace sluice {

std::string make_nonce() {
    std::string nonce(kNonceSize, '\0');
    CHECK(getrandom(nonce.data(), nonce.size(), 0) == static_cast<ssize_t>(nonce.size()));
    return nonce;
}

Result<void> check_validity(const Validity& validity, Time now) {
    const std::int64_t here = to_unix(now);
    if (validity.issued > here && validity.issued - here > kClockSkewMax.count()) {
        return Error{
            ErrorCode::ClockSkew,
            fmt::format("the {} was made at {} by its host's clock, but here it is {}: the "
                        "sender's clock is {} seconds ahead, or ours is behind",
                        validity.what, validity.issued, here, validity.issued - here)};
    }
    if (validity.expires < here) {
        return Error{
            ErrorCode::CredentialExpired,
            fmt::format("the {} was made at {} and expired at {}, and here it is {}: it was "
                        "kept too long, or the sender's clock is behind, or ours is ahead",
                        validity.what, validity.issued, validity.expires, here)};
    }
    return {};
}

Result<void> check_replay(const Validity& validity, const std::string& nonce, Time now,
                          ReplayCache& cache) {
    switch (cache.use(nonce, from_unix(validity.expires), now)) {
        case ReplayCache::Verdict::Fresh:
            return {};
        case ReplayCache::Verdict::Seen:
            return Error{ErrorCode::CredentialReplayed,
                         fmt::format("the {} has been used before", validity.what)};
        case ReplayCache::Verdict::Full:
            break;
    }
    return Error{ErrorCode::AuthenticationFailed,
                 fmt::format("too many {}s at once: try again in a minute", validity.what)};
}

}  // namespace sluice
