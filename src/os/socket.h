// os/socket.h
//
// How our processes reach each other. A daemon listens on TCP and, for peers on its own host, on
// the abstract Unix socket "sluice.<daemon>.<port>", where the kernel gives the uid of the peer.
// Any user can bind such a name or a port: the connecting side must check which user it has reached
// (auth/handshake.h), on a Unix socket by Connection::peer.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace sluice {

struct Peer {
    uid_t uid = 0;
    gid_t gid = 0;
    pid_t pid = 0;
};

struct Connection {
    Fd fd;
    bool local = false;  // a Unix socket: both sides know each other's uid
    Peer peer;           // of the other side, when local
};

// Which daemon, and where.
struct Endpoint {
    std::string address;  // host name or IP address
    std::uint16_t port = 0;
    std::string_view daemon;  // "slurmctld", "slurmd"
};

// Blocking, with a limit: for the command line tools. Local addresses are tried by Unix socket
// first.
Result<Connection> connect_to(const Endpoint& endpoint, std::chrono::milliseconds timeout);

// Only by Unix socket; nothing if the address is not of this host, or nobody listens.
std::optional<Connection> connect_local(const Endpoint& endpoint);

// For event loops: a TCP connection may not be established yet. When the socket is writable,
// connect_failure says whether it is.
Result<Connection> start_connect(const Endpoint& endpoint);
std::optional<Error> connect_failure(const Fd& fd, const Endpoint& endpoint);

// Non-blocking, close-on-exec. An error names the address and the port. For port 0 the
// kernel chooses a port, which bound_port returns.
Result<Fd> listen_tcp(std::uint16_t port, const std::string& address = "");
Result<Fd> listen_local(std::string_view daemon, std::uint16_t port);
std::uint16_t bound_port(const Fd& listener);
Fd accept_connection(const Fd& listener);  // empty: no connection is waiting

// A TCP connection whose peer is unreachable is closed after this time.
constexpr std::chrono::seconds kDeadPeerAfter{30};
// Not when the peer is there but does not read, as an srun that was stopped.
void allow_stopped_peer(const Fd& fd);

// A Unix socket that has a name (of at most 107 letters) and no file. Anybody may call: see
// peer_of().
Result<Fd> listen_as(const std::string& name);
Result<Fd> connect_as(const std::string& name,
                      std::chrono::milliseconds most = std::chrono::seconds{10});
Result<Fd> connect_path(const std::string& path);  // of a Unix socket that is a file

std::optional<Peer> peer_of(const Fd& fd);  // nothing for TCP
std::string peer_address(const Fd& fd);     // "10.0.0.7:51234", "local"
// Our own IP address as the other end sees it, "" if there is none; `address` is where that was
// reached.
std::string own_address(const Connection& connection, const std::string& address);
void set_blocking(const Fd& fd, bool blocking);

bool is_local_address(std::string_view address);
std::vector<std::string> addresses_of(const std::string& host);  // "10.0.0.7"; none: unknown
// The same for a name that may have to be looked up: this may take long.
bool is_own_host(const std::string& name);
std::string host_name();  // as the kernel has it, up to the first dot

// All of it, to a connected socket; false when the other end is gone (never by SIGPIPE).
bool send_all(int fd, std::string_view bytes);

}  // namespace sluice
