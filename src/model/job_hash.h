// model/job_hash.h
//
// Hashes of what jobs ask for, to find equal ones. A member that is left out costs no more than a
// comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"

namespace sluice {

class Hash {
public:
    Hash& add(std::uint64_t value) {
        value_ = (value_ ^ value) * 0x9e3779b97f4a7c15ull;
        value_ ^= value_ >> 32;
        return *this;
    }
    Hash& add(const std::string& text) { return add(std::hash<std::string>{}(text)); }
    Hash& add(const TimeLimit& limit) {
        return add(limit.unlimited() ? ~0ull : static_cast<std::uint64_t>(limit.length().count()));
    }
    Hash& add(Time time) { return add(static_cast<std::uint64_t>(to_unix(time))); }
    Hash& add(const GresCount& wish) { return add(wish.name).add(wish.type).add(wish.count); }
    template <typename T>
    Hash& add(const std::optional<T>& value) {
        return value ? add(1u).add(*value) : add(0u);
    }
    template <typename T>
    Hash& add(const std::vector<T>& values) {
        for (const T& value : values) add(value);
        return add(values.size());
    }
    template <typename... Values>
    Hash& add_all(const Values&... values) {
        (add(values), ...);
        return *this;
    }
    std::size_t value() const { return value_; }

private:
    std::uint64_t value_ = 0;
};

std::size_t hash_of(const Shape& shape);
std::size_t hash_of(const JobTerms& terms);
inline std::size_t hash_of(const PackedDetails& details) {
    return details.hash();
}

}  // namespace sluice
