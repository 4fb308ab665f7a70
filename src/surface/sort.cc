#include "surface/sort.h"

#include <unordered_map>

namespace sluice {

std::vector<SortWord> split_sort(std::string_view text) {
    std::vector<SortWord> found;
    SortWord word;
    for (char c : text) {
        if (c == ',' || c == ' ' || c == '+') continue;
        if (c == '-') {
            word.descending = true;
        } else if (c == '#') {
            word.as_configured = true;
        } else {
            word.letter = c;
            found.push_back(word);
            word = {};
        }
    }
    return found;
}

std::vector<std::int64_t> ranks_of(const std::vector<std::string>& texts) {
    std::unordered_map<std::string_view, std::int64_t> ranks;
    for (const std::string& text : texts) ranks.try_emplace(text, 0);
    std::vector<std::string_view> distinct;
    distinct.reserve(ranks.size());
    for (const auto& [text, rank] : ranks) distinct.push_back(text);
    std::sort(distinct.begin(), distinct.end());
    for (std::size_t i = 0; i < distinct.size(); ++i)
        ranks[distinct[i]] = static_cast<std::int64_t>(i);
    std::vector<std::int64_t> values;
    values.reserve(texts.size());
    for (const std::string& text : texts) values.push_back(ranks[text]);
    return values;
}

std::vector<std::int64_t> text_ranks(const std::vector<SheetRow>& rows,
                                     const ShownField<SheetRow>& field) {
    std::vector<std::string> texts;
    std::vector<std::size_t> text_of(rows.size());
    std::unordered_map<std::int64_t, std::size_t> known;  // raw value of the only column: its text
    const bool one_column = field.needs.count == 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::size_t slot = texts.size();
        if (one_column)
            slot = known.try_emplace(rows[i].raw(field.needs.ids[0]), slot).first->second;
        if (slot == texts.size()) field.append(rows[i], texts.emplace_back());
        text_of[i] = slot;
    }
    std::vector<std::int64_t> ranks = ranks_of(texts);
    std::vector<std::int64_t> values;
    values.reserve(rows.size());
    for (std::size_t slot : text_of) values.push_back(ranks[slot]);
    return values;
}

}  // namespace sluice
