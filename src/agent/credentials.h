// agent/credentials.h
//
// Who speaks to us, and how we say who we are: AuthType's business on TCP, the kernel's on a Unix
// socket.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "auth/identity.h"
#include "auth/token.h"
#include "base/result.h"
#include "config/config.h"
#include "os/fd.h"

namespace sluice {

class Credentials {
public:
    static Result<std::unique_ptr<Credentials>> create(const Config& config);

    // The peer of a new connection, given its Hello's credential.
    Result<Identity> identify(const Fd& connection, const std::string& credential, Time now);
    // For a Hello over TCP.
    Result<std::string> own_credential(Time now) const;
    // auth/slurm: for a local user who wants to speak to another host.
    Result<std::string> token_for(const Identity& identity, Time now) const;

private:
    std::string auth_type_;
    std::string munge_socket_;
    std::unique_ptr<TokenVerifier> verifier_;
    std::optional<TokenMint> mint_;
};

}  // namespace sluice
