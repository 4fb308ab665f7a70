#include "model/table.h"

#include <algorithm>

#include "base/check.h"

namespace sluice {

const Table::Column* Table::find(ColumnId id) const {
    for (const Column& column : columns_) {
        if (column.id == id) return &column;
    }
    return nullptr;
}

std::int64_t Table::number(std::size_t row, ColumnId id) const {
    const Column* column = find(id);
    CHECK(column && row < column->numbers.size());
    return column->numbers[row];
}

std::string_view Table::text(std::size_t row, ColumnId id) const {
    const Column* column = find(id);
    CHECK(column && row < column->texts.size());
    return strings_[column->texts[row]];
}

Table::Column& Table::add_column(ColumnId id) {
    columns_.push_back({.id = id, .numbers = {}, .texts = {}});
    return columns_.back();
}

std::uint32_t Table::intern(std::string_view text) {
    auto [entry, is_new] =
        interned_.try_emplace(std::string(text), static_cast<std::uint32_t>(strings_.size()));
    if (is_new) strings_.emplace_back(text);
    return entry->second;
}

std::uint32_t Table::add_string(std::string text) {
    strings_.push_back(std::move(text));
    return static_cast<std::uint32_t>(strings_.size() - 1);
}

bool Table::consistent() const {
    return std::all_of(columns_.begin(), columns_.end(), [&](const Column& column) {
        if (column.numbers.size() + column.texts.size() != rows_) return false;
        if (!column.numbers.empty() && !column.texts.empty()) return false;
        return std::all_of(column.texts.begin(), column.texts.end(),
                           [&](std::uint32_t index) { return index < strings_.size(); });
    });
}

}  // namespace sluice
