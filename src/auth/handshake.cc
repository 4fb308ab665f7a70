// auth/handshake.cc
//
// See handshake.h.
#include "auth/handshake.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "auth/sha256.h"
#include "auth/validity.h"
#include "model/errors.h"
#include "protocol/convert.h"
#include "protocol/spoken_versions.h"

namespace sluice {

namespace {

void append_number(std::string& out, std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift);
}

void append_text(std::string& out, std::string_view text) {
    append_number(out, static_cast<std::uint32_t>(text.size()));
    out += text;
}

std::string digest_of(std::string_view side, const wire::Hello& hello, const wire::Welcome& welcome,
                      std::string_view last) {
    std::string covered;
    append_text(covered, side);
    append_number(covered, hello.version_min());
    append_number(covered, hello.version());
    append_number(covered, welcome.version());
    append_number(covered, static_cast<std::uint32_t>(hello.channel()));
    append_text(covered, hello.destination());
    append_text(covered, hello.nonce());
    append_text(covered, welcome.nonce());
    append_text(covered, last);
    return sha256(covered);
}

std::string print_versions(VersionRange range) {
    if (range.least == range.most) return fmt::format("version {}", range.most);
    return fmt::format("versions {} to {}", range.least, range.most);
}

}  // namespace

std::string controller_destination(std::string_view host) {
    return fmt::format("slurmctld {}", host);
}

std::string node_destination(std::string_view node) {
    return fmt::format("slurmd {}", node);
}

std::string dbd_destination(std::string_view host) {
    return fmt::format("slurmdbd {}", host);
}

wire::Hello make_hello(wire::Channel channel, std::string_view program) {
    wire::Hello hello;
    const VersionRange spoken = spoken_versions();
    hello.set_version_min(spoken.least);
    hello.set_version(spoken.most);
    hello.set_channel(channel);
    hello.set_program(program.data(), program.size());
    return hello;
}

void address_hello(wire::Hello& hello, std::string destination) {
    hello.set_destination(std::move(destination));
    hello.set_nonce(make_nonce());
}

Result<std::uint32_t> common_version(const wire::Hello& hello, std::string_view server) {
    const std::uint32_t least = hello.version_min() ? hello.version_min() : hello.version();
    const VersionRange ours = spoken_versions();
    const std::uint32_t version = std::min(hello.version(), ours.most);
    if (version >= std::max(least, ours.least)) return version;
    return Error{
        ErrorCode::ProtocolVersion,
        fmt::format("{} speaks {} of the protocol, this {} speaks {}", hello.program(),
                    print_versions({least, hello.version()}), server, print_versions(ours))};
}

Result<void> check_hello(const wire::Hello& hello, bool is_for_us) {
    if (hello.nonce().size() != kNonceSize) {
        return Error{ErrorCode::ProtocolError,
                     fmt::format("a Hello over TCP needs a nonce of {} bytes", kNonceSize)};
    }
    if (!is_for_us) {
        return Error{ErrorCode::AuthenticationFailed,
                     fmt::format("the connection is meant for '{}', which is not this daemon: do "
                                 "all hosts have the same slurm.conf?",
                                 hello.destination())};
    }
    return {};
}

std::string server_digest(const wire::Hello& hello, const wire::Welcome& welcome) {
    return digest_of("sluice server", hello, welcome, welcome.launch_key());
}

std::string client_digest(const wire::Hello& hello, const wire::Welcome& welcome,
                          std::string_view request_hash) {
    return digest_of("sluice client", hello, welcome, request_hash);
}

Result<void> check_request_hash(std::string_view request_hash, std::string_view request) {
    if (sha256(request) == request_hash) return {};
    return Error{ErrorCode::AuthenticationFailed,
                 "the first message is not the one that the client's credential covers"};
}

Result<void> check_welcome(const wire::Welcome& welcome) {
    if (welcome.has_error()) return from_wire(welcome.error());
    const VersionRange ours = spoken_versions();
    if (welcome.version() < ours.least || welcome.version() > ours.most) {
        return Error{ErrorCode::ProtocolVersion,
                     fmt::format("the server speaks version {} of the protocol, this program {}",
                                 welcome.version(), print_versions(ours))};
    }
    if (welcome.nonce().size() != kNonceSize || welcome.credential().empty()) {
        return Error{ErrorCode::AuthenticationFailed, "the server sent no credential of its own"};
    }
    return {};
}

Result<void> check_server(UserId server, UserId slurm_user) {
    if (server.value == 0 || server == slurm_user) return {};
    return Error{
        ErrorCode::AuthenticationFailed,
        fmt::format("the server runs as uid {}, neither as root nor as SlurmUser (uid {}); "
                    "it is not trusted",
                    server.value, slurm_user.value)};
}

Result<void> check_local_server(UserId server, UserId slurm_user) {
    if (server.value == geteuid()) return {};
    return check_server(server, slurm_user);
}

}  // namespace sluice
