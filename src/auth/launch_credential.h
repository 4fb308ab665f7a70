// auth/launch_credential.h
//
// A node runs nothing without a launch credential: user, job or step, nodes, resources and expiry,
// signed by the controller (Ed25519). A node accepts each credential once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "auth/replay_cache.h"
#include "base/result.h"
#include "base/time.h"
#include "wire.pb.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace sluice {

struct EvpKeyFree {
    void operator()(evp_pkey_st* key) const;
};
using EvpKey = std::unique_ptr<evp_pkey_st, EvpKeyFree>;

class CredentialSigner {
public:
    // The key in that file; made on first use.
    static Result<CredentialSigner> load_or_create(const std::string& path);

    // What nodes check signatures with: 32 bytes.
    const std::string& public_key() const { return public_key_; }
    // A SignedCredential. issued, expires and nonce are filled in here.
    std::string sign(wire::LaunchCredential credential, Time now, Seconds lifetime) const;

private:
    CredentialSigner(EvpKey key, std::string public_key)
        : key_(std::move(key)), public_key_(std::move(public_key)) {}
    EvpKey key_;
    std::string public_key_;
};

class CredentialVerifier {
public:
    static Result<std::unique_ptr<CredentialVerifier>> create(const std::string& public_key);

    // What is allowed to run on `node`, or why nothing is.
    Result<wire::LaunchCredential> verify(std::string_view signed_credential, std::string_view node,
                                          Time now);

private:
    explicit CredentialVerifier(EvpKey key) : key_(std::move(key)) {}
    Result<wire::LaunchCredential> check_signature(std::string_view signed_credential) const;

    EvpKey key_;
    ReplayCache seen_;
};

}  // namespace sluice
