// surface/format.h
//
// The formats of -o ("%.18i %9P", anything between fields copied) and -O ("name:.10,state:suffix"),
// parsed against a table of fields, and lines printed with them into one buffer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "surface/fields.h"

namespace sluice {

template <typename Row>
struct Format {
    struct Cell {
        const ShownField<Row>* field = nullptr;
        std::uint32_t width = 0;  // 0: as wide as it is
        bool right = false;
        std::string suffix;  // copied after the field
    };
    std::string prefix;
    std::vector<Cell> cells;
    std::vector<std::string> unknown;  // letters and names that no field has, to complain about
};

// One "%[.][width]letter" or "name[:[.][width][suffix]]", not yet looked up.
struct FormatWord {
    std::string_view name;  // a letter, or -O's name
    std::uint32_t width = 0;
    bool right = false;
    std::string_view literal;  // as written
    std::string_view suffix;
};
// The text before the first '%' comes back as a word without a name.
std::vector<FormatWord> split_short_format(std::string_view text);
std::vector<FormatWord> split_long_format(std::string_view text);

// Brings what was appended since `start` to the width, as printf would.
void fit(std::string& out, std::size_t start, std::uint32_t width, bool right, bool keep_whole);

template <typename Row>
const ShownField<Row>* find_field(std::span<const ShownField<Row>> fields, char letter) {
    for (const ShownField<Row>& field : fields) {
        if (field.letter == letter) return &field;
    }
    return nullptr;
}

template <typename Row>
const ShownField<Row>* find_field(std::span<const ShownField<Row>> fields, std::string_view name) {
    for (const ShownField<Row>& field : fields) {
        if (!field.name.empty() && equals_ignoring_case(field.name, name)) return &field;
    }
    return nullptr;
}

// Compat: an unknown letter is complained about and then printed as it stands.
template <typename Row>
Format<Row> parse_short_format(std::string_view text, std::span<const ShownField<Row>> fields) {
    Format<Row> format;
    for (const FormatWord& word : split_short_format(text)) {
        const ShownField<Row>* field =
            word.name.size() == 1 ? find_field(fields, word.name[0]) : nullptr;
        if (field) {
            format.cells.push_back({field, word.width, word.right, std::string(word.suffix)});
            continue;
        }
        if (word.literal.starts_with('%')) format.unknown.emplace_back(word.name);
        std::string& before = format.cells.empty() ? format.prefix : format.cells.back().suffix;
        before.append(word.literal).append(word.suffix);
    }
    return format;
}

// Compat: of an unknown name, what follows it is printed.
template <typename Row>
Format<Row> parse_long_format(std::string_view text, std::span<const ShownField<Row>> fields) {
    Format<Row> format;
    for (const FormatWord& word : split_long_format(text)) {
        if (const ShownField<Row>* field = find_field(fields, word.name)) {
            format.cells.push_back({field, word.width, word.right, std::string(word.suffix)});
        } else {
            format.unknown.emplace_back(word.name);
            (format.cells.empty() ? format.prefix : format.cells.back().suffix) += word.suffix;
        }
    }
    return format;
}

template <typename Row>
void append_needs(const Format<Row>& format, std::vector<ColumnId>& columns) {
    for (const auto& cell : format.cells) {
        for (ColumnId id : cell.field->needs.all()) columns.push_back(id);
    }
}

template <typename Row>
void append_header(const Format<Row>& format, std::string& out) {
    out += format.prefix;
    for (const auto& cell : format.cells) {
        const std::size_t start = out.size();
        out += cell.field->header;
        fit(out, start, cell.width, cell.right, cell.field->flags & kWholeHeader);
        out += cell.suffix;
    }
    out += '\n';
}

template <typename Row>
void append_cell(const typename Format<Row>::Cell& cell, const Row& row, std::string& out) {
    const std::size_t start = out.size();
    cell.field->append(row, out);
    if (cell.width) {
        const bool whole =
            (cell.field->flags & kWholeValue) ||
            ((cell.field->flags & kWholeNodes) && start < out.size() && out[start] != '(');
        fit(out, start, cell.width, cell.right, whole);
    }
    out += cell.suffix;
}

template <typename Row>
void append_row(const Format<Row>& format, const Row& row, std::string& out) {
    out += format.prefix;
    for (const auto& cell : format.cells) append_cell(cell, row, out);
    out += '\n';
}

}  // namespace sluice
