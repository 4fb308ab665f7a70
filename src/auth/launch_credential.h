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
    // A key that is kept elsewhere: 32 random bytes, as make_secret() gives them. `place`: for
    // errors.
    static Result<CredentialSigner> from_secret(const std::string& secret,
                                                const std::string& place);
    static std::string make_secret();

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
    // The same for a part of a step's nodes that is launched through `node`: once, too.
    Result<wire::LaunchCredential> verify_tree(std::string_view signed_credential,
                                               std::string_view node, Time now);

    // Whether `node` has prepared a job today: then it gets data from other nodes. Users never see
    // such a credential.
    Result<void> verify_for_data(std::string_view signed_credential, std::string_view node,
                                 Time now) const;

private:
    explicit CredentialVerifier(EvpKey key) : key_(std::move(key)) {}
    Result<wire::LaunchCredential> check_signature(std::string_view signed_credential) const;
    Result<wire::LaunchCredential> check_genuine(std::string_view signed_credential,
                                                 std::string_view node) const;

    Result<wire::LaunchCredential> verify_once(std::string_view signed_credential,
                                               std::string_view node, Time now, ReplayCache& seen);

    EvpKey key_;
    ReplayCache seen_;
    ReplayCache seen_trees_;
};

}  // namespace sluice
