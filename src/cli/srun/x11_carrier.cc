#include "cli/srun/x11_carrier.h"

namespace sluice {

Channels& X11Carrier::channels_of(std::uint32_t node) {
    std::unique_ptr<Channels>& channels = nodes_[node];
    if (!channels) {
        channels = std::make_unique<Channels>(
            loop_,
            Channels::Handlers{[this, node](std::uint32_t number, std::string_view data) {
                                   tell(node, number, data, false);
                               },
                               [this, node](std::uint32_t number) { tell(node, number, "", true); },
                               [] {}});
    }
    return *channels;
}

// A client whose X server does not answer sees the end of its connection.
void X11Carrier::on_data(std::uint32_t node, const wire::X11Data& data) {
    Channels& channels = channels_of(node);
    const std::uint32_t number = data.connection();
    const bool opens = data.data().empty() && !data.closed();
    if (opens && !channels.has(number)) {
        Result<Fd> server = connect_x_server(server_);
        if (!server) return tell(node, number, "", true);
        channels.add(number, std::move(*server));
    }
    channels.send(number, data.data());
    if (data.closed()) channels.end(number);
}

void X11Carrier::read_more(bool wanted) {
    for (auto& [node, channels] : nodes_) channels->read_more(wanted);
}

void X11Carrier::tell(std::uint32_t node, std::uint32_t number, std::string_view data,
                      bool closed) {
    wire::StepInput input;
    input.mutable_x11()->set_connection(number);
    input.mutable_x11()->set_data(data.data(), data.size());
    input.mutable_x11()->set_closed(closed);
    send_(node, input);
}

}  // namespace sluice
