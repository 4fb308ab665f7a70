// model/table.h
//
// A listing of jobs, nodes, partitions or steps as columns: one array per field and one table of
// distinct texts. Answers of a hundred thousand rows decode in milliseconds this way, and only the
// requested fields are sent. Queries fill it, tools and the dashboard read it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

enum class TableKind : std::uint8_t {
    Jobs,
    Nodes,
    Partitions,
    Steps,
    Licenses,
    Reservations,
    Shares
};

// An absent number, and an unlimited one.
constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

using ColumnId = std::uint16_t;  // a JobColumn, NodeColumn, ... according to the table's kind

class Table {
public:
    // Numbers, or texts as indexes into strings(); the other of the two is empty. One entry per
    // row, or a single one if it is the same for all rows, as in most columns of a long queue.
    struct Column {
        ColumnId id = 0;
        std::vector<std::int64_t> numbers;
        std::vector<std::uint32_t> texts;

        std::size_t size() const { return numbers.size() + texts.size(); }
        void shorten();  // to the single entry, if all are equal
    };

    std::size_t rows() const { return rows_; }
    bool has(ColumnId id) const { return find(id) != nullptr; }
    std::int64_t number(std::size_t row, ColumnId id) const;    // CHECKs that the column is there
    std::string_view text(std::size_t row, ColumnId id) const;  // CHECKs that the column is there

    template <typename Enum>
    std::int64_t number(std::size_t row, Enum id) const {
        return number(row, static_cast<ColumnId>(id));
    }
    template <typename Enum>
    std::string_view text(std::size_t row, Enum id) const {
        return text(row, static_cast<ColumnId>(id));
    }

    // Building and decoding.
    const std::vector<Column>& columns() const { return columns_; }
    const std::vector<std::string>& strings() const { return strings_; }
    Column& add_column(ColumnId id);              // valid until the next call
    std::uint32_t intern(std::string_view text);  // index of the text, added when new
    std::uint32_t add_string(std::string text);   // decoding: no look-up
    void set_rows(std::size_t rows) { rows_ = rows; }
    std::size_t text_bytes() const { return text_bytes_; }  // of all interned texts
    std::size_t bytes_most() const;                         // upper bound of the message's size
    // Whether all columns have rows() entries or one, and all texts exist. Decoders check this
    // before the table is read.
    bool consistent() const;

private:
    const Column* find(ColumnId id) const;
    template <typename Entry>
    const Entry& entry(const std::vector<Entry>& entries, std::size_t row) const;

    std::size_t rows_ = 0;
    std::size_t text_bytes_ = 0;
    std::vector<Column> columns_;
    std::vector<std::string> strings_;
    std::unordered_map<std::string, std::uint32_t> interned_;
};

}  // namespace sluice
