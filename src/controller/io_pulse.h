// controller/io_pulse.h
//
// Up to which time the I/O threads have read what arrived. Each of them beats once a second; a
// thread that does not run does not beat, and messages of nodes that wait for it do not count as
// silence. Each I/O thread writes its own entry; any thread may read.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>

#include "net/server.h"

namespace sluice {

class IoPulse {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    // What had arrived at the previous beat has been read by now.
    void beat(std::size_t thread, SteadyTime now) {
        Place& place = places_.at(thread);
        place.read_until = place.last_beat;
        place.last_beat = now;
    }
    // The maximum while a thread has not begun.
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
