// stepd/stack_dump.h
//
// The stacks of processes of a job that hangs, as a program of the site (StackDumpProgram, py-spy)
// prints them. It runs with the user's rights, for one process after the other.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <string>

#include "os/event_loop.h"
#include "os/user.h"

namespace sluice {

class StackDump {
public:
    explicit StackDump(EventLoop& loop) : loop_(loop) {}
    ~StackDump() { stop(); }
    StackDump(const StackDump&) = delete;
    StackDump& operator=(const StackDump&) = delete;

    // `say` gets what the program prints of each process of which it can print something. Nothing
    // happens while an earlier dump is under way, or without the program. Empty: py-spy.
    void start(const std::string& program, const User& user, const std::vector<pid_t>& pids,
               std::function<void(const std::string&)> say);
    void stop();

private:
    void next();
    void on_output();
    void finish(bool was_complete);

    EventLoop& loop_;
    std::string program_;
    User user_;
    std::function<void(const std::string&)> say_;
    std::deque<pid_t> left_;
    pid_t child_ = -1;
    Fd output_;
    std::string text_;
    EventLoop::TimerId patience_ = 0;
};

}  // namespace sluice
