// stepd/attach_door.h
//
// Where slurmd passes the connections of sattach on to the supervisor of the step, once it has
// checked whose they are.
#pragma once

#include <functional>
#include <list>
#include <string>

#include "os/event_loop.h"
#include "os/fd.h"

namespace sluice {

class AttachDoor {
public:
    using OnClient = std::function<void(Fd connection)>;

    AttachDoor(EventLoop& loop, const std::string& place, OnClient on_client);
    ~AttachDoor();
    AttachDoor(const AttachDoor&) = delete;
    AttachDoor& operator=(const AttachDoor&) = delete;

private:
    void accept();
    void take(int caller);

    EventLoop& loop_;
    OnClient on_client_;
    Fd listener_;
    std::list<Fd> callers_;  // that have sent nothing yet
};

}  // namespace sluice
