#include "agent/credentials.h"

#include <fmt/format.h>
#include <unistd.h>

#include "auth/munge.h"
#include "base/text.h"
#include "model/errors.h"
#include "os/socket.h"

namespace sluice {

Result<std::unique_ptr<Credentials>> Credentials::create(const Config& config) {
    auto credentials = std::make_unique<Credentials>();
    credentials->auth_type_ = to_lower(config.auth_type);
    credentials->munge_socket_ = std::string(list_option(config.auth_info, "socket").value_or(""));
    if (credentials->auth_type_ == "auth/slurm") {
        std::string path(list_option(config.auth_info, "key").value_or(""));
        if (path.empty()) path = default_token_key_path(config.path);
        std::string key = TRY(load_token_key(path));
        credentials->verifier_ = std::make_unique<TokenVerifier>(key);
        credentials->mint_.emplace(key, host_name());
    }
    return credentials;
}

Result<Identity> Credentials::identify(const Fd& connection, const std::string& credential,
                                       Time now) {
    if (std::optional<Peer> peer = peer_of(connection)) {
        return Identity{UserId{peer->uid}, GroupId{peer->gid}};
    }
    if (credential.empty()) {
        return Error{ErrorCode::AuthenticationFailed, "no credential was sent"};
    }
    if (verifier_) return verifier_->verify(credential, now);
    if (auth_type_ == "auth/munge") return TRY(Munge(munge_socket_).decode(credential)).identity;
    return Error{ErrorCode::AuthenticationFailed,
                 fmt::format("AuthType={} does not work between hosts", auth_type_)};
}

Result<std::string> Credentials::own_credential(Time now) const {
    if (mint_) return mint_->mint({UserId{geteuid()}, GroupId{getegid()}}, now);
    if (auth_type_ == "auth/munge") return Munge(munge_socket_).encode("");
    return Error{ErrorCode::AuthenticationFailed,
                 fmt::format("AuthType={} does not work between hosts", auth_type_)};
}

Result<std::string> Credentials::token_for(const Identity& identity, Time now) const {
    if (mint_) return mint_->mint(identity, now);
    return Error{ErrorCode::NotSupported, fmt::format("AuthType={} has no tokens", auth_type_)};
}

}  // namespace sluice
