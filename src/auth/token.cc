// auth/token.cc
//
// See token.h.
#include "auth/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "auth/key_file.h"
#include "auth/validity.h"
#include "base/check.h"
#include "model/errors.h"
#include "wire.pb.h"

namespace sluice {

namespace {

constexpr std::size_t kTokenSizeMax = 4096;

std::string sign(const std::string& key, std::string_view payload) {
    std::string digest(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(payload.data()), payload.size(),
               reinterpret_cast<unsigned char*>(digest.data()), &size) != nullptr);
    digest.resize(size);
    return digest;
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
    token.set_signature(sign(key_, token.payload()));
    return token.SerializeAsString();
}

Result<Identity> TokenVerifier::verify(std::string_view bytes, std::string_view digest, Time now) {
    wire::Token token;
    if (bytes.size() > kTokenSizeMax ||
        !token.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return refused("this is no token of AuthType=auth/slurm");
    }
    const std::string expected = sign(key_, token.payload());
    if (token.signature().size() != expected.size() ||
        CRYPTO_memcmp(token.signature().data(), expected.data(), expected.size()) != 0) {
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
