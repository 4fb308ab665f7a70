#include "os/event_loop.h"

#include <sys/signalfd.h>

#include <csignal>

#include "base/check.h"

namespace sluice {

namespace {

constexpr int kEventsMax = 64;

epoll_event event_for(int fd, std::uint32_t generation, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = (std::uint64_t{generation} << 32) | static_cast<std::uint32_t>(fd);
    return event;
}

}  // namespace

EventLoop::EventLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    CHECK(epoll_, "epoll_create1");
}

void EventLoop::watch(int fd, std::uint32_t events, OnEvents on_events) {
    std::uint32_t generation = ++generation_;
    watches_[fd] = std::make_shared<Watch>(Watch{generation, std::move(on_events)});
    epoll_event event = event_for(fd, generation, events);
    CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl add");
}

void EventLoop::change(int fd, std::uint32_t events) {
    auto found = watches_.find(fd);
    CHECK(found != watches_.end());
    epoll_event event = event_for(fd, found->second->generation, events);
    CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0, "epoll_ctl mod");
}

void EventLoop::forget(int fd) {
    if (watches_.erase(fd)) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

EventLoop::TimerId EventLoop::after(std::chrono::milliseconds delay,
                                    std::function<void()> function) {
    TimerId id = next_timer_++;
    Clock::time_point when = Clock::now() + delay;
    timers_.emplace(std::pair(when, id), std::move(function));
    timer_times_.emplace(id, when);
    return id;
}

void EventLoop::cancel(TimerId timer) {
    auto found = timer_times_.find(timer);
    if (found == timer_times_.end()) return;
    timers_.erase({found->second, timer});
    timer_times_.erase(found);
}

void EventLoop::later(std::function<void()> function) {
    later_.push_back(std::move(function));
}

void EventLoop::on_signals(const std::vector<int>& signals, std::function<void(int)> function) {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : signals) sigaddset(&set, signal);
    CHECK(sigprocmask(SIG_BLOCK, &set, nullptr) == 0);
    signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    CHECK(signals_, "signalfd");
    watch(signals_.get(), EPOLLIN, [this, function = std::move(function)](std::uint32_t) {
        signalfd_siginfo info{};
        while (read(signals_.get(), &info, sizeof info) == sizeof info) {
            function(static_cast<int>(info.ssi_signo));
        }
    });
}

int EventLoop::wait_ms() const {
    if (!later_.empty()) return 0;
    if (timers_.empty()) return -1;
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

void EventLoop::dispatch(const epoll_event& event) {
    auto found = watches_.find(static_cast<int>(event.data.u64 & 0xffffffff));
    if (found == watches_.end() || found->second->generation != event.data.u64 >> 32) return;
    std::shared_ptr<Watch> alive = found->second;
    alive->on_events(event.events);
}

void EventLoop::run_timers() {
    Clock::time_point now = Clock::now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
        auto first = timers_.extract(timers_.begin());
        timer_times_.erase(first.key().second);
        first.mapped()();
    }
}

void EventLoop::run_once() {
    epoll_event events[kEventsMax];
    int count = epoll_wait(epoll_.get(), events, kEventsMax, wait_ms());
    for (int i = 0; i < count; ++i) dispatch(events[i]);
    run_timers();
    std::vector<std::function<void()>> functions;
    functions.swap(later_);
    for (std::function<void()>& function : functions) function();
}

void EventLoop::run() {
    while (!stopped_) run_once();
}

}  // namespace sluice
