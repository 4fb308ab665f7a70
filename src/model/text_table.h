// model/text_table.h
//
// One line of a table in a text file (a trace, the output of sacct -P), cut into cells. What is
// wrong with a cell is said with its file, line, column and value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace sluice {

struct TableRow {
    const std::string& path;
    std::size_t line = 0;  // from 1
    std::vector<std::string_view> cells;

    Error wrong(std::size_t column, std::string_view name, std::string_view expected) const;
    // A number that may be negative (unknown) or have decimals, which are cut off.
    Result<std::int64_t> number(std::size_t column, std::string_view name) const;
    // A number from 0 up to a four-byte count.
    Result<std::uint32_t> count(std::size_t column, std::string_view name) const;
};

// The columns that a header line names, by lower-case name.
class TableHeader {
public:
    explicit TableHeader(const TableRow& row);
    // Where a column is, or npos.
    std::size_t find(std::string_view name) const;
    Result<std::size_t> required(const std::string& path, std::string_view name) const;
    std::size_t size() const { return size_; }

    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

private:
    std::map<std::string, std::size_t, std::less<>> columns_;
    std::size_t size_ = 0;
};

}  // namespace sluice
