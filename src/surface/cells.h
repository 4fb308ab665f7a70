// surface/cells.h
//
// The regular cells of field tables: a column shown as it is. Irregular ones are functions beside
// the table that uses them.
#pragma once

#include <string>

#include "surface/fields.h"
#include "surface/sheet.h"

namespace sluice {

// What a text that is not there looks like; which one is used is Slurm's choice, field by field.
enum class Missing { Null, NotAvailable, Blank };

constexpr std::string_view word_for(Missing missing) {
    switch (missing) {
        case Missing::Null:
            return "(null)";
        case Missing::NotAvailable:
            return "N/A";
        case Missing::Blank:
            break;
    }
    return "";
}

template <auto Column, Missing IfEmpty = Missing::Null>
void text_cell(const SheetRow& row, std::string& out) {
    std::string_view text = row.text(Column);
    out += text.empty() ? word_for(IfEmpty) : text;
}

// Absent numbers show as `IfAbsent`.
template <auto Column, std::int64_t IfAbsent = 0>
void number_cell(const SheetRow& row, std::string& out) {
    std::int64_t number = row.number(Column);
    append_number(number == kAbsent ? IfAbsent : number, out);
}

template <auto Column>
void moment_cell(const SheetRow& row, std::string& out) {
    append_moment(row.number(Column), "N/A", row.looks(), out);
}

template <auto Column>
void user_cell(const SheetRow& row, std::string& out) {
    out += row.sheet->user_name(row.number(Column));
}

template <auto Column>
std::int64_t number_key(const SheetRow& row) {
    return row.number(Column);
}

// Facts that no job here can have: always the same word.
enum class Word { Null, NotAvailable, Na, Zero, Star, StarTriple, ZeroTime, NotSet, No };

constexpr std::string_view text_of_word(Word word) {
    switch (word) {
        case Word::Null:
            return "(null)";
        case Word::NotAvailable:
            return "N/A";
        case Word::Na:
            return "NA";
        case Word::Zero:
            return "0";
        case Word::Star:
            return "*";
        case Word::StarTriple:
            return "*:*:*";
        case Word::ZeroTime:
            return "0:00";
        case Word::NotSet:
            return "NotSet";
        case Word::No:
            return "No";
    }
    return "";
}

template <Word Shown>
void word_cell(const SheetRow&, std::string& out) {
    out += text_of_word(Shown);
}

}  // namespace sluice
