// surface/cells.h
//
// The regular cells of field tables: a column shown as it is. Irregular ones are functions beside
// the table that uses them.
#pragma once

#include <algorithm>
#include <string>

#include "surface/fields.h"
#include "surface/sheet.h"

namespace sluice {

// A text as an argument of a template.
template <std::size_t Size>
struct Literal {
    char letters[Size];

    constexpr Literal(const char (&text)[Size]) { std::copy_n(text, Size, letters); }
    constexpr std::string_view view() const { return {letters, Size - 1}; }
};

// What a text that is not there looks like is Slurm's choice, field by field.
template <auto Column, Literal IfEmpty = "(null)">
void text_cell(const SheetRow& row, std::string& out) {
    std::string_view text = row.text(Column);
    out += text.empty() ? IfEmpty.view() : text;
}

// Absent numbers show as `IfAbsent`.
template <auto Column, std::int64_t IfAbsent = 0>
void number_cell(const SheetRow& row, std::string& out) {
    std::int64_t number = row.number(Column);
    append_number(number == kAbsent ? IfAbsent : number, out);
}

// A number, or a word for one that is absent or has no limit.
template <auto Column, Literal IfNone>
void number_or(const SheetRow& row, std::string& out) {
    const std::int64_t number = row.number(Column);
    if (number != kAbsent && number != kUnlimited) return append_number(number, out);
    out += IfNone.view();
}

template <auto Column, Literal IfNone = "N/A">
void moment_cell(const SheetRow& row, std::string& out) {
    append_moment(row.number(Column), IfNone.view(), row.looks(), out);
}

template <auto Column, Literal IfAbsent>
void long_duration_cell(const SheetRow& row, std::string& out) {
    if (row.has(Column)) return append_long_duration(row.number(Column), out);
    out += IfAbsent.view();
}

template <auto Column>
void user_cell(const SheetRow& row, std::string& out) {
    out += row.sheet->user_name(row.number(Column));
}

// `Shown` where a flag is set, else `Else`.
template <auto Column, Literal Shown, Literal Else = "">
void flag_cell(const SheetRow& row, std::string& out) {
    out += row.number(Column) == 1 ? Shown.view() : Else.view();
}

template <auto Column>
std::int64_t number_key(const SheetRow& row) {
    return row.number(Column);
}

// Facts that no job here can have: always the same word.
template <Literal Shown>
void word_cell(const SheetRow&, std::string& out) {
    out += Shown.view();
}

}  // namespace sluice
