// cli/common/endings.h
//
// Options after which a listing tool prints something and ends, the same for squeue and sinfo. They
// are numbered behind the tool's own options.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

#include "surface/arguments.h"

namespace sluice {

enum Ending : std::size_t {
    kHelp = 1000,
    kUsage,
    kHelpFormat,
    kHelpLongFormat,
    kHelpState,
    kVersion
};

inline constexpr OptionSpelling kEndings[] = {
    {"help", 0, Argument::None, kHelp},
    {"helpformat", 0, Argument::None, kHelpFormat},
    {"helpFormat", 0, Argument::None, kHelpLongFormat},
    {"helpstate", 0, Argument::None, kHelpState},
    {"usage", 0, Argument::None, kUsage},
    {"version", 'V', Argument::None, kVersion},
};

// A tool's own options by their place in its table, then the endings.
template <typename Options>
std::vector<OptionSpelling> spellings_of(const Options& options) {
    std::vector<OptionSpelling> all;
    for (const auto& option : options) {
        all.push_back(option.spelling);
        all.back().id = all.size() - 1;
    }
    all.insert(all.end(), std::begin(kEndings), std::end(kEndings));
    return all;
}

}  // namespace sluice
