// core/place/amounts.h
//
// Amounts of a node: CPUs, memory and generic resources as a short row of numbers that can be
// compared at once. What the numbers mean depends on the node's kind (place/kinds.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

struct Amounts {
    static constexpr std::size_t kSize = 8;
    static constexpr std::size_t kCpus = 0, kMemory = 1, kFirstGres = 2;
    std::array<std::int32_t, kSize> of{};

    std::int32_t& operator[](std::size_t i) { return of[i]; }
    std::int32_t operator[](std::size_t i) const { return of[i]; }
    bool operator==(const Amounts&) const = default;

    Amounts& operator+=(const Amounts& more) {
        for (std::size_t i = 0; i < kSize; ++i) of[i] += more.of[i];
        return *this;
    }
    Amounts& operator-=(const Amounts& less) {
        for (std::size_t i = 0; i < kSize; ++i) of[i] -= less.of[i];
        return *this;
    }
    // Whether all of `need` is included.
    bool holds(const Amounts& need) const {
        std::int32_t shortest = 0;
        for (std::size_t i = 0; i < kSize; ++i)
            shortest |= of[i] - need.of[i];  // negative: sign bit
        return shortest >= 0;
    }
    static Amounts cpus_only(std::int32_t cpus) {
        Amounts amounts;
        amounts[kCpus] = cpus;
        return amounts;
    }
    void lower_to(const Amounts& other) {
        for (std::size_t i = 0; i < kSize; ++i) of[i] = std::min(of[i], other.of[i]);
    }
};

}  // namespace sluice
