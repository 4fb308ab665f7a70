// base/id.h
//
// A number that remembers what it counts: cluster.node(job.id) does not compile.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace sluice {

template <typename Tag, typename Number = std::uint32_t>
struct Id {
    using number_type = Number;
    Number value{};

    constexpr Id() = default;
    constexpr explicit Id(Number number) : value(number) {}
    constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace sluice

template <typename Tag, typename Number>
struct std::hash<sluice::Id<Tag, Number>> {
    std::size_t operator()(sluice::Id<Tag, Number> id) const noexcept {
        return std::hash<Number>{}(id.value);
    }
};
