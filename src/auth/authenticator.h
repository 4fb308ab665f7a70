// auth/authenticator.h
//
// A daemon's credentials over TCP, as AuthType says. Each covers a digest (auth/handshake.h), and
// is accepted once. It may ask munged, and so can block. Several threads can use it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "auth/identity.h"
#include "auth/munge.h"
#include "auth/token.h"
#include "base/result.h"

namespace sluice {

struct AuthSettings {
    std::string type;          // AuthType
    std::string munge_socket;  // AuthInfo=socket=PATH; empty: munged's default
    std::string key_path;      // of auth/slurm
    std::string host;
    UserId slurm_user;  // may own the key, besides root and this process
};

class Authenticator {
public:
    // Fails when AuthType needs something that is not there.
    static Result<std::unique_ptr<Authenticator>> create(const AuthSettings& settings);

    // A credential of this process; where AuthType can restrict it, for the eyes of `reader` only.
    Result<std::string> vouch(const std::string& digest, std::optional<UserId> reader,
                              Time now) const;
    // auth/slurm: for a user of this host that the kernel has identified.
    Result<std::string> vouch_for(const Identity& identity, const std::string& digest,
                                  Time now) const;
    // Who made it, if it covers the digest.
    Result<Identity> check(const std::string& credential, const std::string& digest, Time now);

private:
    explicit Authenticator(const AuthSettings& settings);

    std::string type_;
    Munge munge_;
    std::unique_ptr<TokenVerifier> tokens_;
    std::optional<TokenMint> mint_;
};

}  // namespace sluice
