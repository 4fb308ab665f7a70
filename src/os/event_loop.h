// os/event_loop.h
//
// One thread, one loop: file descriptors, timers and signals, each with a function to call. A
// function may add and remove anything, itself included; it runs to its end even if removed.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "os/fd.h"

namespace sluice {

class EventLoop {
public:
    using OnEvents = std::function<void(std::uint32_t)>;
    using Clock = std::chrono::steady_clock;
    using TimerId = std::uint64_t;

    EventLoop();

    void watch(int fd, std::uint32_t events, OnEvents on_events);
    void change(int fd, std::uint32_t events);
    void forget(int fd);

    TimerId after(std::chrono::milliseconds delay, std::function<void()> function);
    void cancel(TimerId timer);
    // Once the current function has returned: how an object in a callback gets itself destroyed.
    void later(std::function<void()> function);

    // Blocks the signals for the process and reports them here instead.
    void on_signals(const std::vector<int>& signals, std::function<void(int)> function);

    void run();       // until stop(), which may come before
    void run_once();  // waits for the next thing and handles what is there
    void stop() { stopped_ = true; }

private:
    struct Watch {
        std::uint32_t generation;
        OnEvents on_events;
    };
    int wait_ms() const;
    void dispatch(const epoll_event& event);
    void run_timers();

    Fd epoll_;
    Fd signals_;
    std::unordered_map<int, std::shared_ptr<Watch>> watches_;
    std::uint32_t generation_ = 0;  // an fd number is reused: old events are not for the new owner
    std::map<std::pair<Clock::time_point, TimerId>, std::function<void()>> timers_;
    std::unordered_map<TimerId, Clock::time_point> timer_times_;
    TimerId next_timer_ = 1;
    std::vector<std::function<void()>> later_;
    bool stopped_ = false;
};

}  // namespace sluice
