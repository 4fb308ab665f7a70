// auth/token.cc
//
// See token.h.
#include "auth/token.h"

#include "auth/key_file.h"
#include "auth/sha256.h"
#include "auth/validity.h"
#include "model/errors.h"
#include "wire.pb.h"

namespace sluice {

namespace {

constexpr std::size_t kTokenSizeMax = 4096;

// Takes the same time wherever they differ.
bool are_equal(std::string_view one, std::string_view other) {
    if (one.size() != other.size()) return false;
    volatile unsigned char difference = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        difference = difference | static_cast<unsigned char>(one[i] ^ other[i]);
    return difference == 0;
}

Error refused(std::string detail) {
    return {ErrorCode::AuthenticationFailed, std::move(detail)};
}

}  // namespace

std::string default_token_key_path(std::string_view slurm_conf) {
    const std::size_t slash = slurm_conf.rfind('/');
    if (slash == std::string_view::npos) return "slurm.key";
    return std::string(slurm_conf.substr(0, slash + 1)) + "slurm.key";
}

Result<std::string> load_token_key(const std::string& path, UserId slurm_user) {
    return read_key({.path = path,
                     .what = "the key of AuthType=auth/slurm",
                     .size_min = kTokenKeySizeMin,
                     .group_may_read = true,
                     .owner = slurm_user});
}

std::string TokenMint::mint(const Identity& identity, const std::string& digest, Time now,
                            Seconds lifetime) const {
    wire::TokenClaims claims;
    claims.set_user(identity.user.value);
    claims.set_group(identity.group.value);
    claims.set_host(host_);
    claims.set_issued(to_unix(now));
    claims.set_expires(to_unix(now + lifetime));
    claims.set_nonce(make_nonce());
    claims.set_digest(digest);
    wire::Token token;
    token.set_payload(claims.SerializeAsString());
    token.set_signature(hmac_sha256(key_, token.payload()));
    return token.SerializeAsString();
}

Result<Identity> TokenVerifier::verify(std::string_view bytes, std::string_view digest, Time now) {
    wire::Token token;
    if (bytes.size() > kTokenSizeMax ||
        !token.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return refused("this is no token of AuthType=auth/slurm");
    }
    if (!are_equal(token.signature(), hmac_sha256(key_, token.payload()))) {
        return refused(
            "the token was altered or made with another key: do all hosts have the same "
            "slurm.key?");
    }
    wire::TokenClaims claims;
    if (!claims.ParseFromString(token.payload()) || claims.nonce().size() != kNonceSize) {
        return refused("the token is not complete");
    }
    if (claims.digest() != digest) {
        return refused("the token was made for another connection or another daemon");
    }
    const Validity validity{
        .what = "token", .issued = claims.issued(), .expires = claims.expires()};
    TRY(check_validity(validity, now));
    TRY(check_replay(validity, claims.nonce(), now, seen_));
    return Identity{UserId{claims.user()}, GroupId{claims.group()}};
}

}  // namespace sluice
