// surface/fields.h
//
// What listings can show, one row per field: the letter of -o, the name of -O, the heading, the raw
// columns it needs, how its text is made and how it sorts. squeue, sinfo and the field lists of
// --helpformat read the same tables: kJobFields, kStepFields, kNodeFields.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/columns.h"
#include "model/table.h"

namespace sluice {

// The columns that a field reads. Fixed size, so that tables of fields are constants.
struct Needs {
    std::array<ColumnId, 10> ids{};
    std::uint8_t count = 0;

    std::span<const ColumnId> all() const { return {ids.data(), count}; }
};

template <typename... Columns>
constexpr Needs needs(Columns... columns) {
    return {{static_cast<ColumnId>(columns)...}, sizeof...(columns)};
}

enum FieldFlag : std::uint8_t {
    kPlain = 0,
    // Compat: right-aligned, these are printed whole even where the column is too narrow.
    kWholeValue = 1 << 0,
    kWholeHeader = 1 << 1,
    kWholeNodes = 1 << 2,  // like kWholeValue, unless the text is a reason in parentheses
    // sinfo: nodes with different values are on different lines
    kSplitsRows = 1 << 3,
    // sinfo: only -e puts different values on different lines; else the smallest is shown, with "+"
    kSplitsExactRows = 1 << 4,
    kOfPartition = 1 << 5,  // sinfo: a property of the partition, also where it has no nodes
};

template <typename Row>
struct ShownField {
    char letter = 0;        // of -o; 0: none
    std::string_view name;  // of -O, any case; empty: none
    std::string_view header;
    Needs needs;
    void (*append)(const Row& row, std::string& out) = nullptr;
    // Order of --sort; nullptr: the order of the texts.
    std::int64_t (*key)(const Row& row) = nullptr;
    std::uint8_t flags = kPlain;
    bool sorts = false;  // may be named in --sort, by its letter
};

}  // namespace sluice
