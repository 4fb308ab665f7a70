// surface/properties.h
//
// One table per noun says where each of its properties is shown: as a field of a listing, under a
// key of scontrol show, under a path of JSON. A row of such a table begins with the value, which
// has the usual text and JSON of its type; the places follow in any order:
//
//     {text<C::Account>, list('a', "Account", "ACCOUNT"), record("Account"), json("account")},
//
// JSON has the order of the table, scontrol show that of a list of lines.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "surface/cells.h"
#include "surface/json_cells.h"
#include "surface/record.h"

namespace sluice {

// A column, and how it looks where a place asks for nothing else.
struct ShownValue {
    Needs needs;
    Cell listed = nullptr;
    Cell recorded = nullptr;
    Cell bare = nullptr;  // empty where there is no value
    std::int64_t (*order)(const SheetRow& row) = nullptr;
    JsonValue json = nullptr;
};

// Tables name them like functions: text<Column>.
// clang-format off
// NOLINTBEGIN(readability-identifier-naming)
template <auto Column, Literal IfEmpty = "(null)">
constexpr ShownValue text{needs(Column), text_cell<Column, IfEmpty>, text_cell<Column>, text_cell<Column, "">, nullptr, json_text<Column>};
template <auto Column, std::int64_t IfAbsent = 0>
constexpr ShownValue number{needs(Column), number_cell<Column, IfAbsent>, number_cell<Column, IfAbsent>, number_or<Column, "">, number_key<Column>, json_number<Column>};
// In JSON with the marks "set" and "infinite".
template <auto Column, std::int64_t IfAbsent = 0>
constexpr ShownValue optional_number{needs(Column), number_cell<Column, IfAbsent>, number_cell<Column, IfAbsent>, number_or<Column, "">, number_key<Column>, json_optional<Column>};
template <auto Column, Literal IfNone = "Unknown">
constexpr ShownValue moment{needs(Column), moment_cell<Column>, moment_cell<Column, IfNone>, moment_cell<Column, "">, number_key<Column>, json_optional<Column>};
template <auto Column, Literal Set = "YES", Literal Unset = "NO">
constexpr ShownValue flag{needs(Column), number_cell<Column>, flag_cell<Column, Set, Unset>, flag_cell<Column, Set>, number_key<Column>, json_flag<Column>};
// No column: the same everywhere.
template <Literal Word>
constexpr ShownValue word{Needs{}, word_cell<Word>, word_cell<Word>, word_cell<Word>, nullptr, json_no_text};
// NOLINTEND(readability-identifier-naming)
// clang-format on
// Of several columns: each place has a function of its own.
constexpr ShownValue made_of(const Needs& needs) {
    return {.needs = needs};
}
template <typename... Columns>
constexpr ShownValue made_of(Columns... columns) {
    return {.needs = needs(columns...)};
}

// A field of squeue or sinfo. Without a function: the value's own text.
template <typename Line>
struct ListPlace {
    ShownField<Line> field;

    constexpr ListPlace sorted(std::int64_t (*key)(const Line&) = nullptr) const {
        ListPlace place = *this;
        place.field.sorts = true;
        place.field.key = key;
        return place;
    }
    constexpr ListPlace with(std::uint8_t flags) const {
        ListPlace place = *this;
        place.field.flags = flags;
        return place;
    }
};
template <typename Line = SheetRow>
constexpr ListPlace<Line> list(char letter, std::string_view name, std::string_view header,
                               void (*append)(const Line&, std::string&) = nullptr) {
    return {{.letter = letter, .name = name, .header = header, .needs = {}, .append = append}};
}
template <typename Line = SheetRow>
constexpr ListPlace<Line> list(std::string_view name, std::string_view header,
                               void (*append)(const Line&, std::string&) = nullptr) {
    return list(0, name, header, append);
}

constexpr RecordKey record(std::string_view key, std::uint8_t flags = kAlways) {
    return {key, nullptr, flags};
}
constexpr RecordKey record(std::string_view key, Cell append, std::uint8_t flags = kAlways) {
    return {key, append, flags};
}

struct JsonKey {
    std::string_view path;  // "nodes/total": total in the object nodes
    JsonValue write = nullptr;
    int oldest = kJsonOldest, newest = kJsonNewest;

    constexpr JsonKey since(int version) const { return {path, write, version, newest}; }
    constexpr JsonKey until(int version) const { return {path, write, oldest, version}; }
};
constexpr JsonKey json(std::string_view path, JsonValue write = nullptr) {
    return {path, write};
}

template <typename Line>
struct Property {
    Needs needs;
    ShownField<Line> field;  // without a name: in no listing
    RecordKey record_key;
    JsonKey json_key;

    template <typename... Places>
    constexpr Property(const ShownValue& value, const Places&... places) : needs(value.needs) {
        (add(value, places), ...);
    }

private:
    constexpr void add(const ShownValue& value, const ListPlace<Line>& place) {
        field = place.field;
        field.needs = value.needs;
        if constexpr (std::is_same_v<Line, SheetRow>) {
            if (field.sorts && !field.key && field.append == nullptr) field.key = value.order;
            if (!field.append) field.append = value.listed;
        }
    }
    constexpr void add(const ShownValue& value, const RecordKey& place) {
        record_key = place;
        if (!record_key.append) {
            record_key.append = place.flags & kIfSet ? value.bare : value.recorded;
        }
    }
    constexpr void add(const ShownValue& value, const JsonKey& place) {
        json_key = place;
        if (!json_key.write) json_key.write = value.json;
    }
};

constexpr int letter_rank(char letter) {  // a A b B ...
    return letter >= 'a' ? 2 * letter : 2 * (letter - 'A' + 'a') + 1;
}
bool less_ignoring_case(std::string_view a, std::string_view b);

// The fields of a listing, from one table or several. In the order of the help texts: letters
// first, then the names without one.
template <typename Line>
std::vector<ShownField<Line>> fields_of(
    std::initializer_list<std::span<const Property<Line>>> tables) {
    std::vector<ShownField<Line>> fields;
    for (std::span<const Property<Line>> properties : tables) {
        for (const Property<Line>& each : properties) {
            if (!each.field.name.empty()) fields.push_back(each.field);
        }
    }
    std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) {
        if (a.letter && b.letter) return letter_rank(a.letter) < letter_rank(b.letter);
        return a.letter || (!b.letter && less_ignoring_case(a.name, b.name));
    });
    return fields;
}

template <typename Line>
std::vector<RecordKey> record_keys(std::span<const Property<Line>> properties) {
    std::vector<RecordKey> keys;
    for (const Property<Line>& each : properties) {
        if (!each.record_key.key.empty()) keys.push_back(each.record_key);
    }
    return keys;
}

template <typename Line>
std::vector<JsonKey> json_keys(std::span<const Property<Line>> properties) {
    std::vector<JsonKey> keys;
    for (const Property<Line>& each : properties) {
        if (!each.json_key.path.empty()) keys.push_back(each.json_key);
    }
    return keys;
}
// The members of one object, in the version of the document.
void write_json(std::span<const JsonKey> keys, const SheetRow& row, Json& json);
// All rows as a list under `name`.
void write_json_rows(std::string_view name, std::span<const JsonKey> keys, const Sheet& sheet,
                     Json& json);
// A document: all rows, `last_update`, the rest.
std::string json_document(std::string_view name, std::span<const JsonKey> keys, const Sheet& sheet,
                          const JsonMeta& meta);

// All columns that a table shows, sorted.
template <typename Line>
std::vector<ColumnId> columns_of(std::span<const Property<Line>> properties) {
    std::vector<ColumnId> columns;
    for (const Property<Line>& each : properties) {
        for (ColumnId id : each.needs.all()) columns.push_back(id);
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

}  // namespace sluice
