#include "base/closest.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/text.h"

namespace sluice {

namespace {

constexpr std::size_t kWordLengthMax = 64;  // a longer one is not a typing mistake

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

std::optional<std::string_view> closest_word(std::string_view word,
                                             std::span<const std::string_view> known) {
    if (word.size() > kWordLengthMax) return {};
    std::size_t best = 1 + std::min(std::max<std::size_t>(2, word.size() / 4), word.size() / 2);
    std::optional<std::string_view> found;
    for (std::string_view each : known) {
        std::size_t edits = edits_between(word, each);
        if (edits < best) {
            best = edits;
            found = each;
        }
    }
    return found;
}

}  // namespace sluice
