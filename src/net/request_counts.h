// net/request_counts.h
//
// How many requests of each type and of each user there were, and how long they took: from their
// arrival until they were decided, or answered if the core has no part in the answer. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "model/ids.h"
#include "model/statistics.h"
#include "net/request_types.h"

namespace sluice {

class RequestCounts {
    struct Count {
        std::uint64_t requests = 0;
        std::chrono::steady_clock::duration time{};
    };
    struct Counts {
        std::atomic<std::uint32_t> active{0};
        std::mutex mutex;
        std::map<std::uint32_t, std::pair<std::string_view, Count>> by_type;  // by number
        std::unordered_map<std::uint32_t, Count> by_user;
    };

public:
    // Counts a request when it stops, or is destroyed.
    class Timer {
    public:
        Timer() = default;
        Timer(Timer&&) noexcept = default;
        Timer& operator=(Timer&& other) noexcept;
        ~Timer() { stop(); }
        void stop();

    private:
        friend class RequestCounts;
        std::shared_ptr<Counts> counts_;  // null: does not run
        const RequestType* type_ = nullptr;
        UserId user_;
        std::chrono::steady_clock::time_point start_;
    };

    Timer start(const RequestType& type, UserId user);  // the type must exist as long as the timer
    void reset();
    void fill(Statistics& statistics) const;

private:
    std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  // timers may be in the inbox
};

}  // namespace sluice
