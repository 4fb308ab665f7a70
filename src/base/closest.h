// base/closest.h
//
// Did you mean: the known word that is the fewest edits away from a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace sluice {

// Nothing if none is near. Case does not count.
std::optional<std::string_view> closest_word(std::string_view word,
                                             std::span<const std::string_view> known);

}  // namespace sluice
