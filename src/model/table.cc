#include "model/table.h"

#include <algorithm>

#include "base/check.h"

namespace sluice {

namespace {

template <typename Entry>
void keep_one_of_equal(std::vector<Entry>& entries) {
    auto differs = [&](const Entry& entry) { return entry != entries.front(); };
    if (entries.empty() || std::any_of(entries.begin(), entries.end(), differs)) return;
    entries = {entries.front()};
}

}  // namespace

void Table::Column::shorten() {
    keep_one_of_equal(numbers);
    keep_one_of_equal(texts);
}

const Table::Column* Table::find(ColumnId id) const {
    for (const Column& column : columns_) {
        if (column.id == id) return &column;
    }
    return nullptr;
}

template <typename Entry>
const Entry& Table::entry(const std::vector<Entry>& entries, std::size_t row) const {
    CHECK(row < rows_ && !entries.empty());
    return entries.size() == 1 ? entries.front() : entries[row];
}

std::int64_t Table::number(std::size_t row, ColumnId id) const {
    const Column* column = find(id);
    CHECK(column);
    return entry(column->numbers, row);
}

std::string_view Table::text(std::size_t row, ColumnId id) const {
    const Column* column = find(id);
    CHECK(column);
    return strings_[entry(column->texts, row)];
}

Table::Column& Table::add_column(ColumnId id) {
    columns_.push_back({.id = id, .numbers = {}, .texts = {}});
    return columns_.back();
}

std::size_t Table::bytes_most() const {
    constexpr std::size_t kNumber = 10, kText = 5, kFrame = 16;  // maximum sizes in the message
    std::size_t total = text_bytes_ + strings_.size() * kFrame;
    for (const Column& column : columns_)
        total += column.numbers.size() * kNumber + column.texts.size() * kText + kFrame;
    return total;
}

std::uint32_t Table::intern(std::string_view text) {
    auto [entry, is_new] =
        interned_.try_emplace(std::string(text), static_cast<std::uint32_t>(strings_.size()));
    if (is_new) {
        strings_.emplace_back(text);
        text_bytes_ += text.size();
    }
    return entry->second;
}

std::uint32_t Table::add_string(std::string text) {
    strings_.push_back(std::move(text));
    return static_cast<std::uint32_t>(strings_.size() - 1);
}

bool Table::consistent() const {
    return std::all_of(columns_.begin(), columns_.end(), [&](const Column& column) {
        bool one_for_all = column.size() == 1 && rows_ > 0;
        if (column.size() != rows_ && !one_for_all) return false;
        if (!column.numbers.empty() && !column.texts.empty()) return false;
        return std::all_of(column.texts.begin(), column.texts.end(),
                           [&](std::uint32_t index) { return index < strings_.size(); });
    });
}

}  // namespace sluice
