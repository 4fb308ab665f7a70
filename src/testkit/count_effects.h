// testkit/count_effects.h: how many effects of a kind there are.
#pragma once

#include <cstddef>
#include <variant>

#include "core/effect.h"

namespace sluice {

template <typename Kind>
std::size_t count_effects(const Effects& effects) {
    std::size_t found = 0;
    for (const Effect& effect : effects) found += std::holds_alternative<Kind>(effect) ? 1 : 0;
    return found;
}

}  // namespace sluice
