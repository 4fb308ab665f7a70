// Did you mean: the known key that is the fewest edits away from a mistyped one.
#include <algorithm>
#include <numeric>

#include "config/values.h"

namespace sluice {

namespace {

constexpr std::size_t kKeyLengthMax = 64;  // a longer "key" is not a typing mistake

// Insertions, deletions and replacements between two words, ignoring case.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            bool same = equals_ignoring_case(a.substr(i, 1), b.substr(j, 1));
            std::size_t replaced = diagonal + (same ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view key, std::span<const std::string_view> names) {
    if (key.size() > kKeyLengthMax) return {};
    std::size_t best = 1 + std::min(std::max<std::size_t>(2, key.size() / 4), key.size() / 2);
    std::string_view found;
    for (std::string_view name : names) {
        std::size_t edits = edits_between(key, name);
        if (edits < best) {
            best = edits;
            found = name;
        }
    }
    return found.empty() ? std::string{} : fmt::format(" (did you mean '{}'?)", found);
}

}  // namespace sluice
