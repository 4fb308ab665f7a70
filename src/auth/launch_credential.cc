// auth/launch_credential.cc
//
// See launch_credential.h.
#include "auth/launch_credential.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "auth/key_file.h"
#include "auth/validity.h"
#include "base/check.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kEd25519Size = 32;
constexpr std::size_t kSignatureSize = 64;

struct DigestFree {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Digest = std::unique_ptr<EVP_MD_CTX, DigestFree>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

Error invalid(std::string detail) {
    return {ErrorCode::CredentialInvalid, std::move(detail)};
}

KeyFile key_file(const std::string& path) {
    return {.path = path, .what = "the key of launch credentials", .size_min = kEd25519Size};
}

Result<std::string> read_or_make_key(const std::string& path) {
    const KeyFile file = key_file(path);
    Result<std::string> existing = read_key(file);
    if (existing || existing.error().code != ErrorCode::NotFound) return existing;
    std::string fresh = CredentialSigner::make_secret();
    TRY(write_key(file, fresh));
    return fresh;
}

}  // namespace

void EvpKeyFree::operator()(evp_pkey_st* key) const {
    EVP_PKEY_free(key);
}

Result<CredentialSigner> CredentialSigner::load_or_create(const std::string& path) {
    return from_secret(TRY(read_or_make_key(path)), path);
}

std::string CredentialSigner::make_secret() {
    return make_nonce() + make_nonce();
}

Result<CredentialSigner> CredentialSigner::from_secret(const std::string& secret,
                                                       const std::string& place) {
    if (secret.size() != kEd25519Size) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("the key of launch credentials, {}, has {} bytes instead of {}: "
                                 "remove it, and a new one is made",
                                 place, secret.size(), kEd25519Size)};
    }
    EvpKey key(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(secret), secret.size()));
    CHECK(key != nullptr);
    std::string public_key(kEd25519Size, '\0');
    std::size_t size = public_key.size();
    CHECK(EVP_PKEY_get_raw_public_key(key.get(), bytes_of(public_key), &size) == 1);
    return CredentialSigner(std::move(key), std::move(public_key));
}

std::string CredentialSigner::sign(wire::LaunchCredential credential, Time now,
                                   Seconds lifetime) const {
    credential.set_issued(to_unix(now));
    credential.set_expires(to_unix(now + lifetime));
    credential.set_nonce(make_nonce());
    wire::SignedCredential out;
    out.set_payload(credential.SerializeAsString());
    std::string signature(kSignatureSize, '\0');
    std::size_t size = signature.size();
    const Digest digest(EVP_MD_CTX_new());
    CHECK(EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
    CHECK(EVP_DigestSign(digest.get(), bytes_of(signature), &size, bytes_of(out.payload()),
                         out.payload().size()) == 1);
    out.set_signature(signature);
    return out.SerializeAsString();
}

Result<std::unique_ptr<CredentialVerifier>> CredentialVerifier::create(
    const std::string& public_key) {
    EvpKey key;
    if (public_key.size() == kEd25519Size) {
        key.reset(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key),
                                              public_key.size()));
    }
    if (!key) return invalid("the controller's public key is not an Ed25519 key");
    return std::unique_ptr<CredentialVerifier>(new CredentialVerifier(std::move(key)));
}

Result<wire::LaunchCredential> CredentialVerifier::check_signature(
    std::string_view signed_credential) const {
    wire::SignedCredential outer;
    if (!outer.ParseFromArray(signed_credential.data(),
                              static_cast<int>(signed_credential.size()))) {
        return invalid("this is no launch credential");
    }
    const Digest digest(EVP_MD_CTX_new());
    CHECK(EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
    const bool genuine =
        outer.signature().size() == kSignatureSize &&
        EVP_DigestVerify(digest.get(), bytes_of(outer.signature()), outer.signature().size(),
                         bytes_of(outer.payload()), outer.payload().size()) == 1;
    if (!genuine) {
        return invalid(
            "the launch credential was altered, or not signed by this node's controller");
    }
    wire::LaunchCredential credential;
    if (!credential.ParseFromString(outer.payload()) || credential.nonce().size() != kNonceSize) {
        return invalid("the launch credential is not complete");
    }
    return credential;
}

// And is it for this node?
Result<wire::LaunchCredential> CredentialVerifier::check_genuine(std::string_view signed_credential,
                                                                 std::string_view node) const {
    wire::LaunchCredential credential = TRY(check_signature(signed_credential));
    const bool for_this_node = std::ranges::any_of(
        credential.nodes(), [&](const wire::NodeShare& share) { return share.name() == node; });
    if (!for_this_node) {
        return invalid(fmt::format("the launch credential of job {} is not for node {}",
                                   credential.run().job(), node));
    }
    return credential;
}

Result<wire::LaunchCredential> CredentialVerifier::verify(std::string_view signed_credential,
                                                          std::string_view node, Time now) {
    return verify_once(signed_credential, node, now, seen_);
}

Result<wire::LaunchCredential> CredentialVerifier::verify_tree(std::string_view signed_credential,
                                                               std::string_view node, Time now) {
    return verify_once(signed_credential, node, now, seen_trees_);
}

Result<wire::LaunchCredential> CredentialVerifier::verify_once(std::string_view signed_credential,
                                                               std::string_view node, Time now,
                                                               ReplayCache& seen) {
    wire::LaunchCredential credential = TRY(check_genuine(signed_credential, node));
    const Validity validity{.what = "launch credential",
                            .issued = credential.issued(),
                            .expires = credential.expires()};
    TRY(check_validity(validity, now));
    TRY(check_replay(validity, credential.nonce(), now, seen));
    return credential;
}

Result<void> CredentialVerifier::verify_for_data(std::string_view signed_credential,
                                                 std::string_view node, Time now) const {
    constexpr Seconds kDay{24 * 3600};
    const wire::LaunchCredential credential = TRY(check_genuine(signed_credential, node));
    if (credential.run().step() != kExternStep.value)
        return invalid("the launch credential is not for the preparation of a job");
    const Validity validity{.what = "launch credential",
                            .issued = credential.issued(),
                            .expires = credential.issued() + kDay.count()};
    return check_validity(validity, now);
}

}  // namespace sluice
