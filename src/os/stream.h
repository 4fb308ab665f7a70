// os/stream.h
//
// A connection or pipe in an event loop: bytes come by a function, bytes go through a buffer that
// never blocks. A sender that fills the buffer faster than the peer reads it asks backlog() and
// waits for on_drained. When the peer takes no more bytes, the rest of the buffer is dropped and
// reading goes on to the end of what the peer sent. A stream may be destroyed in any of its own
// functions except through EventLoop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "os/event_loop.h"

namespace sluice {

class Stream {
public:
    struct Handlers {
        std::function<void(std::string_view)> on_data;
        std::function<void()> on_close;    // end of file or error; called once, nothing after it
        std::function<void()> on_drained;  // all that was sent has left
    };

    Stream(EventLoop& loop, Fd fd, Handlers handlers);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    void send(std::string_view bytes);
    std::size_t backlog() const { return out_.size() - out_start_; }
    void read_more(bool wanted);  // false: let the peer wait
    void close_after_drain();     // then the other side sees the end of file
    void close() { close_now(false); }
    bool closed() const { return !fd_; }
    int fd() const { return fd_.get(); }
    // Ends the watch and hands the descriptor out, to be inherited by another process.
    Fd release();

private:
    void watch(std::uint32_t events);
    void on_events(std::uint32_t events);
    void read_some();
    void write_some();
    void update();
    void close_now(bool tell);

    EventLoop& loop_;
    Fd fd_;
    Handlers handlers_;
    std::string out_;
    std::size_t out_start_ = 0;
    bool reading_ = true;
    bool closing_ = false;
    bool broken_ = false;  // a write failed: the peer takes no more
    std::uint32_t events_ = EPOLLIN;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sluice
