#include "model/text_table.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

Error TableRow::wrong(std::size_t column, std::string_view name, std::string_view expected) const {
    return {ErrorCode::BadArgument,
            fmt::format("{}:{}: column {} ({}): '{}': {} is expected", path, line, column + 1, name,
                        column < cells.size() ? cells[column] : "", expected)};
}

Result<std::int64_t> TableRow::number(std::size_t column, std::string_view name) const {
    if (column >= cells.size()) return wrong(column, name, "a number");
    std::string_view cell = trim(cells[column]);
    double value = 0;
    auto [end, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    constexpr double kMost = 1e15;  // far beyond any time or count, far below an overflow
    if (problem != std::errc{} || end != cell.data() + cell.size() || !(value > -kMost) ||
        !(value < kMost)) {
        return wrong(column, name, "a number");
    }
    return static_cast<std::int64_t>(value);
}

Result<std::uint32_t> TableRow::count(std::size_t column, std::string_view name) const {
    std::int64_t value = TRY(number(column, name));
    if (value < 0 || value > 0xffffffff) return wrong(column, name, "a count");
    return static_cast<std::uint32_t>(value);
}

TableHeader::TableHeader(const TableRow& row) : size_(row.cells.size()) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
        columns_.emplace(to_lower(trim(row.cells[i])), i);
    }
}

std::size_t TableHeader::find(std::string_view name) const {
    auto found = columns_.find(name);
    return found == columns_.end() ? npos : found->second;
}

Result<std::size_t> TableHeader::required(const std::string& path, std::string_view name) const {
    std::size_t column = find(name);
    if (column != npos) return column;
    return Error{ErrorCode::BadArgument,
                 fmt::format("{}:1: the header line names no column '{}'", path, name)};
}

}  // namespace sluice
