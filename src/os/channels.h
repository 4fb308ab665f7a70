// os/channels.h
//
// Numbered connections whose bytes share one carrier, such as the X clients of a step: what comes
// from one of them is given out with its number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "os/stream.h"

namespace sluice {

class Channels {
public:
    struct Handlers {
        std::function<void(std::uint32_t number, std::string_view data)> on_data;
        std::function<void(std::uint32_t number)> on_close;  // by the other side; called once
        std::function<void()> on_drained;                    // of one of them
    };
    Channels(EventLoop& loop, Handlers handlers) : loop_(loop), handlers_(std::move(handlers)) {}

    bool has(std::uint32_t number) const { return streams_.contains(number); }
    std::size_t size() const { return streams_.size(); }
    void add(std::uint32_t number, Fd fd);
    void send(std::uint32_t number, std::string_view data);  // nothing if it is gone
    void end(std::uint32_t number);  // when all has been sent; nothing is given out any more
    void read_more(bool wanted);
    std::size_t backlog() const;  // of all of them

private:
    void on_closed(std::uint32_t number);

    EventLoop& loop_;
    Handlers handlers_;
    std::map<std::uint32_t, std::shared_ptr<Stream>> streams_;
    bool reads_ = true;
};

}  // namespace sluice
