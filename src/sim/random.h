// sim/random.h
//
// Dice that fall the same way for the same seed, on every machine and with every compiler: the
// distributions of <random> do not promise that. The generator is splitmix64.
#pragma once

#include <cmath>
#include <cstdint>

namespace sluice {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }
    // Both ends are possible.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
    bool chance(double probability) { return unit() < probability; }
    // As many small as large ones, by order of magnitude.
    double log_uniform(double low, double high) { return low * std::pow(high / low, unit()); }

private:
    std::uint64_t state_;
};

}  // namespace sluice
