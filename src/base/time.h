// base/time.h
//
// Moments and durations. Units live in the type; "unlimited" is a case of the type.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>

namespace sluice {

using Seconds = std::chrono::seconds;
using Minutes = std::chrono::minutes;
using Time = std::chrono::sys_seconds;  // a moment

constexpr std::int64_t to_unix(Time time) {
    return time.time_since_epoch().count();
}
constexpr Time from_unix(std::int64_t seconds) {
    return Time{Seconds{seconds}};
}

// How long something may take: a number of seconds, or for ever.
class TimeLimit {
public:
    constexpr TimeLimit() = default;  // unlimited
    constexpr explicit TimeLimit(Seconds length) : length_(length) {}

    constexpr bool unlimited() const { return !length_; }
    constexpr Seconds length() const { return *length_; }
    constexpr bool reached(Time start, Time now) const {
        return length_ && now >= start + *length_;
    }
    // Unlimited is longer than every length.
    constexpr std::strong_ordering operator<=>(const TimeLimit& other) const {
        if (unlimited() || other.unlimited()) return unlimited() <=> other.unlimited();
        return *length_ <=> *other.length_;
    }
    constexpr bool operator==(const TimeLimit&) const = default;

private:
    std::optional<Seconds> length_;
};

}  // namespace sluice
