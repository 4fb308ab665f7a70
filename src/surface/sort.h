// surface/sort.h
//
// --sort: "P,t,-p" against a table of fields, and the order of rows that it asks for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "surface/format.h"
#include "surface/sheet.h"

namespace sluice {

template <typename Row>
struct SortKey {
    const ShownField<Row>* field = nullptr;
    bool descending = false;
    bool as_configured = false;  // sinfo's "#P"
};

struct SortWord {
    char letter = 0;
    bool descending = false;
    bool as_configured = false;
};
// Every letter is a key of its own: "Pt" is "P,t". Signs go with the next letter.
std::vector<SortWord> split_sort(std::string_view text);

// Letters that no field sorts by go to `unknown`.
template <typename Row>
std::vector<SortKey<Row>> parse_sort(std::string_view text, std::span<const ShownField<Row>> fields,
                                     std::string& unknown) {
    std::vector<SortKey<Row>> keys;
    for (const SortWord& word : split_sort(text)) {
        const ShownField<Row>* field = find_field(fields, word.letter);
        if (field && field->sorts) {
            keys.push_back({field, word.descending, word.as_configured});
        } else {
            unknown += word.letter;
        }
    }
    return keys;
}

// Numbers in the order of the rows' texts: comparing integers is what makes large sorts quick.
std::vector<std::int64_t> ranks_of(const std::vector<std::string>& texts);

// The texts that a field gives the rows. Most depend on one column, and most columns of a large
// listing hold few different values: each is worded once.
std::vector<std::int64_t> text_ranks(const std::vector<SheetRow>& rows,
                                     const ShownField<SheetRow>& field);

template <typename Row>
std::vector<std::int64_t> text_ranks(const std::vector<Row>& rows, const ShownField<Row>& field) {
    std::vector<std::string> texts(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) field.append(rows[i], texts[i]);
    return ranks_of(texts);
}

inline std::int64_t configured_order(const SheetRow& row) {
    return row.index;
}

template <typename Row>
std::vector<std::int64_t> key_values(const std::vector<Row>& rows, const SortKey<Row>& key) {
    std::vector<std::int64_t> values;
    if (key.as_configured) {
        values.reserve(rows.size());
        for (const Row& row : rows) values.push_back(configured_order(row));
    } else if (key.field->key) {
        values.reserve(rows.size());
        for (const Row& row : rows) values.push_back(key.field->key(row));
    } else {
        values = text_ranks(rows, *key.field);
    }
    if (key.descending) {
        for (std::int64_t& value : values) value = -(value + 1);
    }
    return values;
}

// Rows that compare equal stay in the order in which the server sent them.
template <typename Row>
void sort_rows(std::vector<Row>& rows, const std::vector<SortKey<Row>>& keys) {
    if (keys.empty()) return;
    std::vector<std::vector<std::int64_t>> values;
    for (const SortKey<Row>& key : keys) values.push_back(key_values(rows, key));
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        for (const std::vector<std::int64_t>& value : values) {
            if (value[a] != value[b]) return value[a] < value[b];
        }
        return a < b;
    };
    if (std::is_sorted(order.begin(), order.end(), before)) return;  // as a queue mostly is
    std::sort(order.begin(), order.end(), before);
    std::vector<Row> sorted;
    sorted.reserve(rows.size());
    for (std::uint32_t index : order) sorted.push_back(rows[index]);
    rows = std::move(sorted);
}

}  // namespace sluice
