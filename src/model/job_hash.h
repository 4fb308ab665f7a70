// model/job_hash.h
//
// Hashes of requests, to find equal ones. All members of the lists (fields.h) count.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/fields.h"
#include "model/job.h"

namespace sluice {

class Hash {
public:
    template <typename Value>
    requires std::integral<Value> || std::is_enum_v<Value> Hash& add(Value number) {
        const auto value = static_cast<std::uint64_t>(number);
        value_ = (value_ ^ value) * 0x9e3779b97f4a7c15ull;
        value_ ^= value_ >> 32;
        return *this;
    }
    Hash& add(const std::string& text) { return add(std::hash<std::string>{}(text)); }
    Hash& add(const TimeLimit& limit) {
        return add(limit.unlimited() ? ~0ull : static_cast<std::uint64_t>(limit.length().count()));
    }
    Hash& add(Time time) { return add(static_cast<std::uint64_t>(to_unix(time))); }
    Hash& add(Seconds length) { return add(length.count()); }
    Hash& add(const TaskSet& tasks) {
        for (const TaskSet::Range& range : tasks.ranges()) {
            add(range.first).add(range.last).add(range.step);
        }
        return add(tasks.ranges().size());
    }
    template <typename First, typename Second>
    Hash& add(const std::pair<First, Second>& both) {
        return add(both.first).add(both.second);
    }
    template <HasFields Owner>
    Hash& add(const Owner& owner) {
        for_each_field<Owner>([&](const auto& each) { add(owner.*each.member); });
        return *this;
    }
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
