// protocol/checks.h
//
// Doubts about numbers and texts that others sent. Every refusal names the field and the value.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/errors.h"

namespace sluice::checks {

constexpr std::size_t kTextSizeMax = 1u << 20;
constexpr std::size_t kListSizeMax = 1u << 20;
// Far enough for every date, near enough that sums of moments and lengths cannot overflow.
constexpr std::int64_t kSecondsMax = std::int64_t{1} << 40;
// Likewise for sums of memory and of devices.
constexpr std::uint64_t kAmountMax = std::uint64_t{1} << 48;
constexpr std::uint32_t kCountMax = 1u << 30;  // of nodes, tasks, CPUs

inline Error refused(std::string_view field, std::string_view why) {
    return {ErrorCode::ProtocolError, fmt::format("{}: {}", field, why)};
}

template <typename Number, typename Limit>
Result<Number> number(std::string_view field, Number value, Limit most) {
    if (value < Number{0} || value > static_cast<Number>(most)) {
        return refused(field, fmt::format("{} is not between 0 and {}", value, most));
    }
    return value;
}

inline Result<std::uint32_t> count(std::string_view field, std::uint32_t value) {
    return number(field, value, kCountMax);
}

inline Result<std::uint64_t> amount(std::string_view field, std::uint64_t value) {
    return number(field, value, kAmountMax);
}

// One of the values of an enum that starts at 0 and ends with `last`.
template <typename Enum>
Result<Enum> one_of(std::string_view field, std::uint32_t value, Enum last) {
    return static_cast<Enum>(TRY(number(field, value, static_cast<std::uint32_t>(last))));
}

// Texts end up in paths, arguments and variables of C programs: a zero byte would cut them short.
inline Result<std::string> text(std::string_view field, const std::string& value) {
    if (value.size() > kTextSizeMax) {
        return refused(field, fmt::format("a text of {} bytes is too long", value.size()));
    }
    if (value.find('\0') != std::string::npos) return refused(field, "a zero byte in a text");
    return value;
}

inline Result<void> list_size(std::string_view field, std::size_t size,
                              std::size_t most = kListSizeMax) {
    if (size > most) return refused(field, fmt::format("{} entries are too many", size));
    return {};
}

inline Result<Time> moment(std::string_view field, std::int64_t seconds) {
    return from_unix(TRY(number(field, seconds, kSecondsMax)));
}

inline Result<Seconds> length(std::string_view field, std::int64_t seconds) {
    return Seconds{TRY(number(field, seconds, kSecondsMax))};
}

// A list of texts, from a repeated field.
template <typename Repeated>
Result<std::vector<std::string>> texts(std::string_view field, const Repeated& values) {
    TRY(list_size(field, static_cast<std::size_t>(values.size())));
    std::vector<std::string> list;
    list.reserve(static_cast<std::size_t>(values.size()));
    for (const std::string& value : values) list.push_back(TRY(text(field, value)));
    return list;
}

}  // namespace sluice::checks
