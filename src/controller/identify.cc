// controller/identify.cc
#include "controller/identify.h"

#include <fmt/format.h>

#include "auth/munge.h"
#include "base/text.h"
#include "config/settings.h"
#include "model/errors.h"

namespace sluice {

Result<std::unique_ptr<Identifier>> Identifier::create(const Config& config) {
    auto identifier = std::make_unique<Identifier>();
    identifier->auth_type_ = to_lower(config.auth_type);
    identifier->munge_socket_ = find_parameter(config.auth_info, "socket").value_or("");
    if (identifier->auth_type_ == "auth/slurm") {
        const auto path = find_parameter(config.auth_info, "key");
        std::string key =
            TRY(load_token_key(path ? std::string(*path) : default_token_key_path(config.path)));
        identifier->tokens_ = std::make_unique<TokenVerifier>(std::move(key));
    }
    return identifier;
}

Result<Identity> Identifier::identify(const std::string& credential, Time now) {
    if (credential.empty()) {
        return Error{ErrorCode::AuthenticationFailed, "no credential was sent"};
    }
    if (tokens_) return tokens_->verify(credential, now);
    if (auth_type_ == "auth/munge") {
        return TRY(Munge(munge_socket_).decode(credential)).identity;
    }
    return Error{ErrorCode::AuthenticationFailed,
                 fmt::format("AuthType={} does not work between hosts", auth_type_)};
}

}  // namespace sluice
