// controller/identify.h
//
// Who has connected: by the kernel on a Unix socket, else by the credential in the Hello, as
// AuthType says. May ask munged, so it does not run on an I/O thread.
#pragma once

#include <memory>
#include <string>

#include "auth/identity.h"
#include "auth/token.h"
#include "base/result.h"
#include "config/config.h"

namespace sluice {

class Identifier {
public:
    // Fails when AuthType needs something that is not there.
    static Result<std::unique_ptr<Identifier>> create(const Config& config);

    Result<Identity> identify(const std::string& credential, Time now);

private:
    std::string auth_type_;
    std::string munge_socket_;
    std::unique_ptr<TokenVerifier> tokens_;
};

}  // namespace sluice
