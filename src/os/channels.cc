#include "os/channels.h"

namespace sluice {

void Channels::add(std::uint32_t number, Fd fd) {
    auto stream = std::make_shared<Stream>(loop_, std::move(fd),
                                           Stream::Handlers{[this, number](std::string_view data) {
                                                                if (has(number))
                                                                    handlers_.on_data(number, data);
                                                            },
                                                            [this, number] { on_closed(number); },
                                                            [this] { handlers_.on_drained(); }});
    if (!reads_) stream->read_more(false);
    streams_[number] = std::move(stream);
}

void Channels::send(std::uint32_t number, std::string_view data) {
    const auto found = streams_.find(number);
    if (found != streams_.end() && !found->second->closed()) found->second->send(data);
}

// What the connection still sends has no receiver: it is read and dropped until the buffer is
// empty.
void Channels::end(std::uint32_t number) {
    auto ended = streams_.extract(number);
    if (ended.empty()) return;
    std::shared_ptr<Stream> stream = std::move(ended.mapped());
    stream->read_more(true);
    stream->close_after_drain();
    if (stream->closed()) return;
    // A peer that does not read must not keep it for ever.
    constexpr std::chrono::seconds kLinger{5};
    loop_.after(kLinger, [stream] {});
}

void Channels::on_closed(std::uint32_t number) {
    auto closed = streams_.extract(number);
    if (closed.empty()) return;
    loop_.later([stream = std::move(closed.mapped())] {});  // we are in one of its functions
    handlers_.on_close(number);
}

void Channels::read_more(bool wanted) {
    if (wanted == reads_) return;
    reads_ = wanted;
    for (auto& [number, stream] : streams_) {
        if (!stream->closed()) stream->read_more(wanted);
    }
}

std::size_t Channels::backlog() const {
    std::size_t bytes = 0;
    for (const auto& [number, stream] : streams_) bytes += stream->backlog();
    return bytes;
}

}  // namespace sluice
