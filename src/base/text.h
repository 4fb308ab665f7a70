// base/text.h
//
// Small helpers on text that the standard library lacks. All are locale-free.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

std::vector<std::string_view> split(std::string_view text, char separator);  // keeps empty pieces
std::vector<std::string_view> words(std::string_view text);  // at blanks, none empty
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);

// The whole of `text` as a decimal number; nothing for signs, blanks, overflow or leftovers.
std::optional<std::uint64_t> to_number(std::string_view text);

}  // namespace sluice
