// testkit/scenario_words.h
//
// The words of a line of a scenario: KEY=VALUE, and KEY alone for "yes".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"

namespace sluice {

using ScenarioWords = std::map<std::string, std::string>;

inline std::string option(const ScenarioWords& options, const std::string& key,
                          const std::string& otherwise = {}) {
    auto found = options.find(key);
    return found == options.end() ? otherwise : found->second;
}

inline std::uint32_t as_number(const std::string& text) {
    return static_cast<std::uint32_t>(to_number(text).value());
}

inline ScenarioWords options_in(const std::vector<std::string>& words, std::size_t from) {
    ScenarioWords options;
    for (std::size_t i = from; i < words.size(); ++i) {
        std::size_t equals = words[i].find('=');
        if (equals == std::string::npos)
            options[words[i]] = "yes";
        else
            options[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    }
    return options;
}

inline std::vector<std::string> list_in(const ScenarioWords& options, const std::string& key) {
    std::vector<std::string> names;
    const std::string list = option(options, key);  // the views below point into it
    for (std::string_view name : split(list, ',')) {
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

}  // namespace sluice
