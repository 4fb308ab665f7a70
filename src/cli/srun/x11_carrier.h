// cli/srun/x11_carrier.h
//
// srun --x11, on the side of the X server: for each X client that connects to the display of a node
// there is a connection to the X server; the bytes travel over the connections to the nodes.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "cli/common/x11.h"
#include "os/channels.h"
#include "wire.pb.h"

namespace sluice {

class X11Carrier {
public:
    using Send = std::function<void(std::uint32_t node, const wire::StepInput&)>;
    X11Carrier(EventLoop& loop, XServer server, Send send)
        : loop_(loop), server_(std::move(server)), send_(std::move(send)) {}

    void on_data(std::uint32_t node, const wire::X11Data& data);
    void read_more(bool wanted);

private:
    Channels& channels_of(std::uint32_t node);
    void tell(std::uint32_t node, std::uint32_t number, std::string_view data, bool closed);

    EventLoop& loop_;
    XServer server_;
    Send send_;
    std::map<std::uint32_t, std::unique_ptr<Channels>> nodes_;
};

}  // namespace sluice
