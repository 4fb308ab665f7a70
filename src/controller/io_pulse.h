// controller/io_pulse.h
//
// Up to when the I/O threads have read what arrived. Each of them beats once a second; one that
// does not run does not beat, and what nodes say to it meanwhile is not silence. Written by the I/O
// threads, each its own place; read by any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>

namespace sluice {

constexpr std::size_t kIoThreads = 2;

class IoPulse {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    // What had arrived at the beat before this one has been read by now.
    void beat(std::size_t thread, SteadyTime now) {
        Place& place = places_.at(thread);
        place.read_until = place.last_beat;
        place.last_beat = now;
    }
    // The end of time while a thread has not begun.
    SteadyTime read_until() const {
        SteadyTime first = SteadyTime::max();
        for (const Place& place : places_) first = std::min(first, place.read_until.load());
        return first;
    }

private:
    struct Place {
        SteadyTime last_beat = SteadyTime::max();  // the thread's own
        std::atomic<SteadyTime> read_until{SteadyTime::max()};
    };
    std::array<Place, kIoThreads> places_;
};

}  // namespace sluice
