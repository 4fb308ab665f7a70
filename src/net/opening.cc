#include "net/opening.h"

#include <poll.h>
#include <sys/socket.h>

#include "auth/authenticator.h"
#include "auth/handshake.h"
#include "auth/munge.h"
#include "auth/sha256.h"
#include "base/text.h"
#include "model/errors.h"
#include "os/user.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

UserId slurm_user_of(const Config& config) {
    if (config.slurm_user == "root") return UserId{0};
    std::optional<User> user = find_user(config.slurm_user);
    return UserId{user ? user->uid : 0};
}

Error lost(std::string_view what) {
    return {ErrorCode::ControllerUnreachable, std::string(what)};
}

// The next message of a peer that sends nothing after it.
template <typename Message>
Result<Message> read_message(const Fd& fd, FrameReader& reader, milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        if (std::optional<std::string_view> frame = TRY(reader.next())) {
            return decode<Message>(*frame);
        }
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
        pollfd entry{fd.get(), POLLIN, 0};
        const int ready = poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
        if (ready == 0) return Error{ErrorCode::Timeout, ""};
        char buffer[4096];
        const ssize_t size = ready < 0 ? -1 : recv(fd.get(), buffer, sizeof buffer, 0);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return lost("lost");
        reader.feed({buffer, static_cast<std::size_t>(size)});
    }
}

// A credential that covers `digest`, after a check of the server's.
struct Question {
    std::string server_credential;
    std::string server_digest;
    std::string digest;
};

Result<std::string> ask_munge(const Config& config, const Question& question) {
    const Munge munge(std::string(list_option(config.auth_info, "socket").value_or("")));
    const Identity server = TRY(munge.check(question.server_credential, question.server_digest));
    TRY(check_server(server.user, slurm_user_of(config)));
    return munge.encode(question.digest, server.user);
}

// auth/slurm: only daemons have the key, so the slurmd of this host does it.
Result<std::string> ask_own_slurmd(const Config& config, const Question& question) {
    const Endpoint endpoint{.address = "localhost", .port = config.slurmd_port, .daemon = "slurmd"};
    Result<Connection> slurmd = connect_to(endpoint, config.message_timeout);
    if (!slurmd || !slurmd->local) {
        return Error{ErrorCode::AuthenticationFailed,
                     "no slurmd on this host that could vouch for us (AuthType=auth/slurm)"};
    }
    wire::LocalRequest request;
    request.mutable_token()->set_server_credential(question.server_credential);
    request.mutable_token()->set_server_digest(question.server_digest);
    request.mutable_token()->set_digest(question.digest);
    const Opening opening{
        .tool = "", .config = config, .channel = wire::CHANNEL_LOCAL, .destination = ""};
    const std::string bytes = TRY(open_channel(*slurmd, opening, request));
    const Error silent{ErrorCode::AuthenticationFailed, "the slurmd of this host gave no token"};
    if (!send_all(slurmd->fd.get(), bytes)) return silent;
    FrameReader reader;
    auto welcome = read_message<wire::Welcome>(slurmd->fd, reader, config.message_timeout);
    if (!welcome) return silent;
    if (welcome->has_error()) return from_wire(welcome->error());
    auto reply = read_message<wire::LocalReply>(slurmd->fd, reader, config.message_timeout);
    if (!reply) return silent;
    if (reply->has_error()) return from_wire(reply->error());
    TRY(check_server(UserId{reply->server_user()}, slurm_user_of(config)));
    return reply->token();
}

Result<std::string> ask_own(Authenticator& authenticator, UserId slurm_user,
                            const Question& question) {
    const Time now = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
    const Identity server =
        TRY(authenticator.check(question.server_credential, question.server_digest, now));
    TRY(check_server(server.user, slurm_user));
    return authenticator.vouch(question.digest, server.user, now);
}

Result<std::string> credential_for(const Opening& opening, const Question& question) {
    const Config& config = opening.config;
    if (opening.authenticator)
        return ask_own(*opening.authenticator, opening.slurm_user.value(), question);
    if (config.auth_type == "auth/munge") return ask_munge(config, question);
    if (config.auth_type == "auth/slurm") return ask_own_slurmd(config, question);
    return Error{ErrorCode::AuthenticationFailed,
                 fmt::format("AuthType={} does not work between hosts", config.auth_type)};
}

}  // namespace

Result<std::string> open_channel(const Connection& connection, const Opening& opening,
                                 const google::protobuf::MessageLite& first) {
    wire::Hello hello = make_hello(opening.channel, opening.tool);
    std::string bytes;
    if (connection.local) {
        const UserId slurm_user =
            opening.slurm_user ? *opening.slurm_user : slurm_user_of(opening.config);
        TRY(check_local_server(UserId{connection.peer.uid}, slurm_user));
        append_frame(bytes, hello);
        append_frame(bytes, first);
        return bytes;
    }
    address_hello(hello, opening.destination);
    append_frame(bytes, hello);
    if (!send_all(connection.fd.get(), bytes)) return lost("lost");
    FrameReader reader(kHelloSizeMax);
    const auto welcome = TRY(read_message<wire::Welcome>(
        connection.fd, reader, opening.patience.value_or(opening.config.message_timeout)));
    TRY(check_welcome(welcome));

    std::string request;
    append_frame(request, first);
    wire::Proof proof;
    proof.set_request_hash(sha256(std::string_view(request).substr(kFrameHeaderSize)));
    const Question question{.server_credential = welcome.credential(),
                            .server_digest = server_digest(hello, welcome),
                            .digest = client_digest(hello, welcome, proof.request_hash())};
    proof.set_credential(TRY(credential_for(opening, question)));
    bytes.clear();
    append_frame(bytes, proof);
    return bytes + request;
}

}  // namespace sluice
