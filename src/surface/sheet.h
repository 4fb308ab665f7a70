// surface/sheet.h
//
// A listing made ready for printing: columns are looked up once, so that a hundred thousand rows
// cost no searching. A column that the server did not send reads as absent, never as an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/table.h"

namespace sluice {

// What the user's environment and options say about how values look.
struct Looks {
    Time now;
    std::string time_format;  // SLURM_TIME_FORMAT
    std::string cluster;
    std::size_t array_text_max = 64;  // SLURM_BITSTR_LEN; 0: no limit
    bool convert_units = true;        // --noconvert
    bool expand_patterns = false;     // --expand-patterns
};

class Sheet {
public:
    Sheet(const Table& table, const Looks& looks);

    std::size_t rows() const { return rows_; }
    const Looks& looks() const { return *looks_; }

    template <typename Enum>
    std::int64_t number(std::size_t row, Enum column) const {
        const Cells<std::int64_t>& cells = numbers_[static_cast<ColumnId>(column)];
        return cells.values ? cells.values[row & cells.mask] : kAbsent;
    }
    template <typename Enum>
    std::string_view text(std::size_t row, Enum column) const {
        const Cells<std::uint32_t>& cells = texts_[static_cast<ColumnId>(column)];
        return cells.values ? std::string_view(strings_[cells.values[row & cells.mask]])
                            : std::string_view();
    }
    // What the column holds for the row: a number, or the number of a text.
    std::int64_t raw(std::size_t row, ColumnId column) const {
        const Cells<std::uint32_t>& cells = texts_[column];
        return cells.values ? cells.values[row & cells.mask] : number(row, column);
    }
    // May rows differ in it?
    bool varies(ColumnId column) const { return numbers_[column].mask || texts_[column].mask; }

    // Names from the password file, each asked for once; the number where there is none.
    std::string_view user_name(std::int64_t id) const;
    std::string_view group_name(std::int64_t id) const;

private:
    static constexpr std::size_t kColumnsMax = 512;

    template <typename Entry>
    struct Cells {
        const Entry* values = nullptr;
        std::size_t mask = 0;  // of the row: none of it where one entry stands for all
    };
    template <typename Entry>
    static Cells<Entry> cells_of(const std::vector<Entry>& entries) {
        return {entries.empty() ? nullptr : entries.data(),
                entries.size() > 1 ? ~std::size_t{0} : 0};
    }

    const Looks* looks_;
    std::size_t rows_;
    const std::string* strings_;
    std::vector<Cells<std::int64_t>> numbers_;
    std::vector<Cells<std::uint32_t>> texts_;
    mutable std::map<std::int64_t, std::string> users_;
    mutable std::map<std::int64_t, std::string> groups_;
};

// One line of a listing of jobs or steps. `task` is set where a line shows one task of an array
// that has not started.
struct SheetRow {
    const Sheet* sheet = nullptr;
    std::uint32_t index = 0;
    std::int64_t task = kAbsent;

    template <typename Enum>
    std::int64_t number(Enum column) const {
        return sheet->number(index, column);
    }
    template <typename Enum>
    std::string_view text(Enum column) const {
        return sheet->text(index, column);
    }
    template <typename Enum>
    bool has(Enum column) const {
        return sheet->number(index, column) != kAbsent;
    }
    std::int64_t raw(ColumnId column) const { return sheet->raw(index, column); }
    const Looks& looks() const { return sheet->looks(); }
};

// Pieces that several fields are made of.
void append_number(std::int64_t number, std::string& out);
void append_moment(std::int64_t time, std::string_view if_none, const Looks& looks,
                   std::string& out);
void append_duration(std::int64_t seconds, std::string& out);       // "1:00", "UNLIMITED"
void append_long_duration(std::int64_t seconds, std::string& out);  // "00:01:00", "UNLIMITED"
void append_memory(std::int64_t megabytes, const Looks& looks, std::string& out);  // "4G"; "0"

}  // namespace sluice
