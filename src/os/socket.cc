#include "os/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr int kBacklog = 4096;

struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;
    int family = AF_UNSPEC;
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// It has no file, and disappears with the process that listens.
Address abstract_address(std::string_view name) {
    Address address;
    address.family = AF_UNIX;
    auto* place = reinterpret_cast<sockaddr_un*>(&address.storage);
    place->sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), place->sun_path + 1);
    address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return address;
}

std::string local_name(std::string_view daemon, std::uint16_t port) {
    return fmt::format("sluice.{}.{}", daemon, port);
}

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    int status = getaddrinfo(host.empty() ? nullptr : host.c_str(), fmt::format("{}", port).c_str(),
                             &hints, &found);
    if (status != 0) {
        return Error{ErrorCode{}, fmt::format("{}: {}", host, gai_strerror(status))};
    }
    std::vector<Address> addresses;
    for (const addrinfo* each = found; each; each = each->ai_next) {
        Address address;
        address.family = each->ai_family;
        address.length = each->ai_addrlen;
        std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                    reinterpret_cast<char*>(&address.storage));
        addresses.push_back(address);
    }
    freeaddrinfo(found);
    return addresses;
}

void set_option(int fd, int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof value);
}

void set_tcp_options(int fd) {
    constexpr int kProbes = 4;
    constexpr int kSeconds = static_cast<int>(kDeadPeerAfter.count());
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kSeconds / 3);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kSeconds / 6);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * kSeconds);
}

// Connected, or on the way (EINPROGRESS); an empty Fd with errno otherwise.
Fd connect_start(const Address& address) {
    Fd fd(socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return fd;
    if (address.family != AF_UNIX) set_tcp_options(fd.get());
    if (connect(fd.get(), address.get(), address.length) == 0 || errno == EINPROGRESS) return fd;
    int why = errno;
    fd.reset();
    errno = why;
    return fd;
}

std::string name_of(const Endpoint& endpoint) {
    return fmt::format("{} at {}:{}", endpoint.daemon, endpoint.address, endpoint.port);
}

std::optional<Connection> start_connect_local(const Endpoint& endpoint) {
    if (!is_local_address(endpoint.address)) return {};
    Connection connection;
    connection.fd = connect_start(abstract_address(local_name(endpoint.daemon, endpoint.port)));
    if (!connection.fd) return {};
    std::optional<Peer> peer = peer_of(connection.fd);
    if (!peer) return {};
    connection.local = true;
    connection.peer = *peer;
    return connection;
}

bool wait_writable(const Fd& fd, std::chrono::milliseconds timeout) {
    pollfd entry{fd.get(), POLLOUT, 0};
    int ready = poll(&entry, 1, static_cast<int>(timeout.count()));
    if (ready == 0) errno = ETIMEDOUT;
    return ready > 0;
}

}  // namespace

std::optional<Connection> connect_local(const Endpoint& endpoint) {
    std::optional<Connection> local = start_connect_local(endpoint);
    if (local) set_blocking(local->fd, true);
    return local;
}

Result<Connection> connect_to(const Endpoint& endpoint, std::chrono::milliseconds timeout) {
    if (std::optional<Connection> local = connect_local(endpoint)) return std::move(*local);
    std::vector<Address> addresses = TRY(resolve(endpoint.address, endpoint.port, 0));
    Error failure = os_error(name_of(endpoint), ECONNREFUSED);
    for (const Address& address : addresses) {
        Fd fd = connect_start(address);
        if (!fd || !wait_writable(fd, timeout)) {
            failure = os_error(name_of(endpoint));
            continue;
        }
        if (std::optional<Error> error = connect_failure(fd, endpoint)) {
            failure = *error;
            continue;
        }
        // A daemon listens on its Unix socket first. If it has just started, it does so by now.
        std::optional<Connection> local = connect_local(endpoint);
        Connection connection = local ? std::move(*local) : Connection{std::move(fd), false, {}};
        set_blocking(connection.fd, true);
        return connection;
    }
    return failure;
}

Result<Connection> start_connect(const Endpoint& endpoint) {
    if (std::optional<Connection> local = start_connect_local(endpoint)) return std::move(*local);
    std::vector<Address> addresses = TRY(resolve(endpoint.address, endpoint.port, 0));
    for (const Address& address : addresses) {
        if (Fd fd = connect_start(address)) return Connection{std::move(fd), false, {}};
    }
    return os_error(name_of(endpoint));
}

std::optional<Error> connect_failure(const Fd& fd, const Endpoint& endpoint) {
    int number = 0;
    socklen_t length = sizeof number;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &number, &length);
    if (number == 0) return {};
    return os_error(name_of(endpoint), number);
}

Result<Fd> listen_tcp(std::uint16_t port, const std::string& host) {
    std::vector<Address> addresses = TRY(resolve(host, port, AI_PASSIVE));
    // A socket for "any address" in IPv6 takes IPv4 peers too; hosts without IPv6 have only the
    // other.
    std::stable_sort(addresses.begin(), addresses.end(), [](const Address& a, const Address& b) {
        return a.family == AF_INET6 && b.family != AF_INET6;
    });
    int number = EADDRNOTAVAIL;
    for (const Address& address : addresses) {
        Fd fd(socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd) set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (fd && address.family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
        if (fd && bind(fd.get(), address.get(), address.length) == 0 &&
            listen(fd.get(), kBacklog) == 0) {
            return fd;
        }
        number = errno;
        if (number == EADDRINUSE) break;
    }
    return os_error(fmt::format("cannot listen on {}:{}", host.empty() ? "*" : host, port), number);
}

Result<Fd> listen_local(std::string_view daemon, std::uint16_t port) {
    return listen_as(local_name(daemon, port));
}

std::uint16_t bound_port(const Fd& listener) {
    Address address;
    address.length = sizeof address.storage;
    getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length);
    if (address.storage.ss_family == AF_INET6) {
        return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
    }
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

Fd accept_connection(const Fd& listener) {
    Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) set_tcp_options(fd.get());  // refused on a Unix socket, which does not need them
    return fd;
}

void allow_stopped_peer(const Fd& fd) {
    set_option(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
}

Result<Fd> listen_as(const std::string& name) {
    Address address = abstract_address(name);
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd || bind(fd.get(), address.get(), address.length) != 0 ||
        listen(fd.get(), kBacklog) != 0) {
        return os_error(fmt::format("cannot listen on the Unix socket @{}", name));
    }
    return fd;
}

// Waits for its turn: others may have called that are not wanted there.
Result<Fd> connect_as(const std::string& name, std::chrono::milliseconds limit) {
    Address address = abstract_address(name);
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval most{limit.count() / 1000, limit.count() % 1000 * 1000};
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (!fd || connect(fd.get(), address.get(), address.length) != 0) return os_error("@" + name);
    return fd;
}

Result<Fd> connect_path(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return os_error(path, ENAMETOOLONG);
    path.copy(address.sun_path, path.size());
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return os_error(path);
    return fd;
}

std::optional<Peer> peer_of(const Fd& fd) {
    int domain = 0;
    socklen_t length = sizeof domain;
    getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &domain, &length);
    if (domain != AF_UNIX) return {};
    ucred credentials{};
    length = sizeof credentials;
    if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return {};
    return Peer{credentials.uid, credentials.gid, credentials.pid};
}

std::string peer_address(const Fd& fd) {
    Address address;
    address.length = sizeof address.storage;
    auto* raw = reinterpret_cast<sockaddr*>(&address.storage);
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getpeername(fd.get(), raw, &address.length) != 0) return "unknown";
    if (raw->sa_family == AF_UNIX) return "local";
    if (getnameinfo(raw, address.length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return "unknown";
    }
    return fmt::format("{}:{}", host, port);
}

std::vector<std::string> addresses_of(const std::string& host) {
    std::vector<std::string> found;
    Result<std::vector<Address>> addresses = resolve(host, 0, 0);
    if (!addresses) return found;
    for (const Address& address : *addresses) {
        char text[NI_MAXHOST];
        const auto* raw = reinterpret_cast<const sockaddr*>(&address.storage);
        if (getnameinfo(raw, address.length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
            found.emplace_back(text);
    }
    return found;
}

std::string own_address(const Connection& connection, const std::string& address) {
    Address own;
    own.length = sizeof own.storage;
    if (connection.local) {  // by TCP it would be the address that was called
        Result<std::vector<Address>> called = resolve(address, 0, 0);
        if (!called || called->empty()) return "";
        own = called->front();
    } else if (getsockname(connection.fd.get(), reinterpret_cast<sockaddr*>(&own.storage),
                           &own.length) != 0) {
        return "";
    }
    char host[NI_MAXHOST];
    if (getnameinfo(own.get(), own.length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0)
        return "";
    return host;
}

void set_blocking(const Fd& fd, bool blocking) {
    int flags = fcntl(fd.get(), F_GETFL);
    fcntl(fd.get(), F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

namespace {

bool is_own_interface(const Address& address) {
    ifaddrs* interfaces = nullptr;
    if (getifaddrs(&interfaces) != 0) return false;
    bool found = false;
    for (const ifaddrs* each = interfaces; each && !found; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != address.family) continue;
        if (address.family == AF_INET) {
            auto* a = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
            auto* b = reinterpret_cast<const sockaddr_in*>(&address.storage);
            found = a->sin_addr.s_addr == b->sin_addr.s_addr;
        } else if (address.family == AF_INET6) {
            auto* a = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr);
            auto* b = reinterpret_cast<const sockaddr_in6*>(&address.storage);
            found = IN6_ARE_ADDR_EQUAL(&a->sin6_addr, &b->sin6_addr);
        }
    }
    freeifaddrs(interfaces);
    return found;
}

}  // namespace

// Names are compared, not looked up: a tool must not wait for DNS to learn that it is at home.
bool is_local_address(std::string_view address) {
    if (address == "localhost" || address == "::1" || address.starts_with("127.")) return true;
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    if (equals_ignoring_case(address, name) || equals_ignoring_case(address, host_name()))
        return true;
    if (address.find_first_not_of("0123456789.") != std::string_view::npos &&
        address.find(':') == std::string_view::npos) {
        return false;
    }
    Result<std::vector<Address>> numeric = resolve(std::string(address), 0, AI_NUMERICHOST);
    return numeric && !numeric->empty() && is_own_interface(numeric->front());
}

bool is_own_host(const std::string& name) {
    if (is_local_address(name)) return true;
    Result<std::vector<Address>> found = resolve(name, 0, 0);
    return found && std::any_of(found->begin(), found->end(), is_own_interface);
}

std::string host_name() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    std::string_view text = name;
    return std::string(text.substr(0, text.find('.')));
}

bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t count = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace sluice
