// auth/handshake.h
//
// Mutual authentication of two processes over TCP (docs/protocol.md). The server's credential
// and then the client's cover a digest of all previous messages, so that a credential that was
// received on one connection is not valid on another one, nor at another daemon.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"
#include "wire.pb.h"

namespace sluice {

// What a Hello over TCP names as its destination.
std::string controller_destination(std::string_view host);  // as SlurmctldHost names it
std::string node_destination(std::string_view node);
std::string dbd_destination(std::string_view host);  // as AccountingStorageHost names it

wire::Hello make_hello(wire::Channel channel, std::string_view program);
void address_hello(wire::Hello& hello, std::string destination);  // over TCP; adds a nonce

// The newest version that both sides speak. The error names the versions of both.
Result<std::uint32_t> common_version(const wire::Hello& hello, std::string_view server);

// Over TCP: is the Hello complete, and for this daemon?
Result<void> check_hello(const wire::Hello& hello, bool is_for_us);

// What the server's credential in its first Welcome covers, and the client's in its Proof.
std::string server_digest(const wire::Hello& hello, const wire::Welcome& welcome);
std::string client_digest(const wire::Hello& hello, const wire::Welcome& welcome,
                          std::string_view request_hash);
Result<void> check_request_hash(std::string_view request_hash, std::string_view request);

// The first Welcome as the client checks it before it trusts the credential in it.
Result<void> check_welcome(const wire::Welcome& welcome);
// A server must run as root or SlurmUser.
Result<void> check_server(UserId server, UserId slurm_user);
// The same on a Unix socket, where a user may also run daemons for himself alone.
Result<void> check_local_server(UserId server, UserId slurm_user);

}  // namespace sluice
