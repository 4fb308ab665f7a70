// cli/srun/input_pump.h
//
// Standard input, or a file in its place, read as fast as the nodes take it.
#pragma once

#include <functional>
#include <string_view>

#include "os/event_loop.h"
#include "os/fd.h"

namespace sluice {

class InputPump {
public:
    // Data is handed to `on_data`; empty data is the end. `file` replaces standard input.
    InputPump(EventLoop& loop, Fd file, std::function<void(std::string_view)> on_data);
    ~InputPump();
    InputPump(const InputPump&) = delete;
    InputPump& operator=(const InputPump&) = delete;

    void pause();
    void resume();

private:
    int fd() const;
    void read_some();

    EventLoop& loop_;
    Fd file_;
    std::function<void(std::string_view)> on_data_;
    bool is_pollable_ = false;  // files and /dev/null are always ready, and epoll refuses them
    bool running_ = false;
    bool ended_ = false;
};

}  // namespace sluice
