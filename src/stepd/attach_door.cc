#include "stepd/attach_door.h"

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "os/fd_passing.h"
#include "os/socket.h"
#include "protocol/step_mark.h"

namespace sluice {

AttachDoor::AttachDoor(EventLoop& loop, const std::string& place, OnClient on_client)
    : loop_(loop), on_client_(std::move(on_client)) {
    Result<Fd> listener = listen_as(attach_socket(place));
    if (!listener) {
        log_error("sattach will not find this step: {}", listener.error().detail);
        return;
    }
    listener_ = *std::move(listener);
    loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
}

AttachDoor::~AttachDoor() {
    if (listener_) loop_.forget(listener_.get());
    for (const Fd& caller : callers_) loop_.forget(caller.get());
}

void AttachDoor::accept() {
    Fd caller = accept_connection(listener_);
    const std::optional<Peer> peer = caller ? peer_of(caller) : std::nullopt;
    if (!peer || !is_one_of_us(peer->uid)) return;
    const int fd = caller.get();
    callers_.push_back(std::move(caller));
    loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { take(fd); });
}

void AttachDoor::take(int fd) {
    const auto place = std::find_if(callers_.begin(), callers_.end(),
                                    [&](const Fd& each) { return each.get() == fd; });
    if (place == callers_.end()) return;
    loop_.forget(fd);
    const Fd caller = std::move(*place);
    callers_.erase(place);
    if (Fd connection = receive_fd(caller)) on_client_(std::move(connection));
}

}  // namespace sluice
