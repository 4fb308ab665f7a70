// os/probe.cc: see probe.h.
#include "os/probe.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "os/fd.h"

namespace sluice {

namespace {

constexpr std::size_t kThreadsMost = 32;

struct AddressListDeleter {
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressListDeleter>;

// Empty: connected.
std::string connect_error(const addrinfo& address, std::chrono::milliseconds timeout) {
    const Fd fd(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd) return std::strerror(errno);
    if (connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return std::strerror(errno);
    pollfd entry{fd.get(), POLLOUT, 0};
    if (poll(&entry, 1, static_cast<int>(timeout.count())) <= 0) return "no response";
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 ? "" : std::strerror(error);
}

ProbeResult probe(const ProbeTarget& target, std::chrono::milliseconds timeout) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failure =
        getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found);
    if (failure != 0) return {.why = gai_strerror(failure)};
    const AddressList list(found);
    ProbeResult result{.is_resolved = true};
    for (const addrinfo* each = list.get(); each && !result.is_connected; each = each->ai_next) {
        const std::string error = connect_error(*each, timeout);
        result.is_connected = error.empty();
        result.why = error;
    }
    return result;
}

}  // namespace

std::vector<ProbeResult> probe_tcp(const std::vector<ProbeTarget>& targets,
                                   std::chrono::milliseconds timeout) {
    std::vector<ProbeResult> results(targets.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < targets.size(); i = next++)
            results[i] = probe(targets[i], timeout);
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(targets.size(), kThreadsMost); ++i)
        threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    return results;
}

}  // namespace sluice
