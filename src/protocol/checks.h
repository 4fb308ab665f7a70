// protocol/checks.h
//
// Doubts about numbers and texts that others sent. Every refusal names the field and the value. The
// limits are those of model/sizes.h.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "model/validate.h"

namespace sluice::checks {

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
    return number(field, value, sizes::kCount);
}

inline Result<std::uint64_t> amount(std::string_view field, std::uint64_t value) {
    return number(field, value, sizes::kAmount);
}

// One of the values of an enum that starts at 0 and ends with `last`.
template <typename Enum>
Result<Enum> one_of(std::string_view field, std::uint32_t value, Enum last) {
    return static_cast<Enum>(TRY(number(field, value, static_cast<std::uint32_t>(last))));
}

inline Result<std::string> text(std::string_view field, const std::string& value,
                                std::size_t most = sizes::kGenerated) {
    TRY(validate_text(field, value, most));
    return value;
}

inline Result<void> list_size(std::string_view field, std::size_t size,
                              std::size_t most = sizes::kNodeCount) {
    return validate_list(field, size, most);
}

inline Result<Time> moment(std::string_view field, std::int64_t seconds) {
    return from_unix(TRY(number(field, seconds, sizes::kSeconds)));
}

inline Result<Seconds> length(std::string_view field, std::int64_t seconds) {
    return Seconds{TRY(number(field, seconds, sizes::kSeconds))};
}

// A list of texts, from a repeated field.
template <typename Repeated>
Result<std::vector<std::string>> texts(std::string_view field, const Repeated& values,
                                       std::size_t each_most, std::size_t count_most) {
    TRY(list_size(field, static_cast<std::size_t>(values.size()), count_most));
    std::vector<std::string> list(values.begin(), values.end());
    TRY(validate_texts(field, list, each_most, count_most));
    return list;
}

}  // namespace sluice::checks
