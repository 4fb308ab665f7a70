// auth/authenticator.cc
//
// See authenticator.h.
#include "auth/authenticator.h"

#include <fmt/format.h>
#include <unistd.h>

#include "model/errors.h"

namespace sluice {

Authenticator::Authenticator(const AuthSettings& settings)
    : type_(settings.type), munge_(settings.munge_socket) {}

Result<std::unique_ptr<Authenticator>> Authenticator::create(const AuthSettings& settings) {
    std::unique_ptr<Authenticator> result(new Authenticator(settings));
    if (settings.type == "auth/slurm") {
        const std::string key = TRY(load_token_key(settings.key_path, settings.slurm_user));
        result->tokens_ = std::make_unique<TokenVerifier>(key);
        result->mint_.emplace(key, settings.host);
    }
    return result;
}

Result<std::string> Authenticator::vouch(const std::string& digest, std::optional<UserId> reader,
                                         Time now) const {
    if (mint_) return mint_->mint({UserId{geteuid()}, GroupId{getegid()}}, digest, now);
    if (type_ == "auth/munge") return munge_.encode(digest, reader);
    return Error{ErrorCode::AuthenticationFailed,
                 fmt::format("AuthType={} does not work between hosts", type_)};
}

Result<std::string> Authenticator::vouch_for(const Identity& identity, const std::string& digest,
                                             Time now) const {
    if (mint_) return mint_->mint(identity, digest, now);
    return Error{ErrorCode::NotSupported, fmt::format("AuthType={} has no tokens", type_)};
}

Result<Identity> Authenticator::check(const std::string& credential, const std::string& digest,
                                      Time now) {
    if (credential.empty()) {
        return Error{ErrorCode::AuthenticationFailed, "no credential was sent"};
    }
    if (tokens_) return tokens_->verify(credential, digest, now);
    if (type_ == "auth/munge") return munge_.check(credential, digest);
    return Error{ErrorCode::AuthenticationFailed,
                 fmt::format("AuthType={} does not work between hosts", type_)};
}

}  // namespace sluice
