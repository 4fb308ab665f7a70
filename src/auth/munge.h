// auth/munge.h
//
// AuthType=auth/munge: credentials that the munged of each host makes and checks. The library is
// loaded at the first use, so tools that use a Unix socket do not load it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/identity.h"
#include "base/result.h"

namespace sluice {

class Munge {
public:
    explicit Munge(std::string socket) : socket_(std::move(socket)) {}  // empty: munged's default

    // A credential with the identity of this process. It can be decoded once, for some minutes, and
    // only by `reader` if one is named.
    Result<std::string> encode(std::string_view payload, std::optional<UserId> reader = {}) const;

    struct Decoded {
        Identity identity;
        std::string payload;
    };
    Result<Decoded> decode(const std::string& credential) const;
    // Who made it, if `payload` is what it carries.
    Result<Identity> check(const std::string& credential, std::string_view payload) const;

private:
    std::string socket_;
};

}  // namespace sluice
