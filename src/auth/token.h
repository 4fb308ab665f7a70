// auth/token.h
//
// AuthType=auth/slurm: a key that all daemons share. A daemon that knows a local user by
// SO_PEERCRED mints a short-lived token for it; any other daemon can check it.
#pragma once

#include <string>
#include <string_view>

#include "auth/identity.h"
#include "auth/replay_cache.h"
#include "base/result.h"

namespace sluice {

constexpr std::size_t kTokenKeySizeMin = 16;
constexpr Seconds kTokenLifetime{120};

// Where the key is unless AuthInfo says otherwise: slurm.key beside slurm.conf.
std::string default_token_key_path(std::string_view slurm_conf);
// It must belong to root, `slurm_user` or the user of this process.
Result<std::string> load_token_key(const std::string& path, UserId slurm_user);

class TokenMint {
public:
    TokenMint(std::string key, std::string host) : key_(std::move(key)), host_(std::move(host)) {}
    // `digest`: what the token is good for.
    std::string mint(const Identity& identity, const std::string& digest, Time now,
                     Seconds lifetime = kTokenLifetime) const;

private:
    std::string key_;
    std::string host_;  // shown in errors and logs of the peer
};

class TokenVerifier {
public:
    explicit TokenVerifier(std::string key, std::size_t capacity = 1u << 20)
        : key_(std::move(key)), seen_(capacity) {}
    // Each token is good once, and only for the digest that it covers.
    Result<Identity> verify(std::string_view token, std::string_view digest, Time now);

private:
    std::string key_;
    ReplayCache seen_;
};

}  // namespace sluice
