// surface/json_cells.h
//
// The regular values of JSON documents. A value that is absent keeps its key, with the neutral
// value of its type.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"
#include "surface/json.h"
#include "surface/sheet.h"

namespace sluice {

using JsonValue = void (*)(const SheetRow& row, Json& json, std::string_view key);

template <auto Column>
void json_text(const SheetRow& row, Json& json, std::string_view key) {
    json.text(key, row.text(Column));
}
template <auto Column>
void json_number(const SheetRow& row, Json& json, std::string_view key) {
    json.number(key, row.has(Column) ? row.number(Column) : 0);
}
template <auto Column>
void json_optional(const SheetRow& row, Json& json, std::string_view key) {
    json.optional_number(key, row.number(Column));
}
template <auto Column>
void json_flag(const SheetRow& row, Json& json, std::string_view key) {
    json.boolean(key, row.number(Column) == 1);
}
// Of a column in seconds.
template <auto Column>
void json_minutes(const SheetRow& row, Json& json, std::string_view key) {
    const std::int64_t limit = row.number(Column);
    json.optional_number(key, limit == kAbsent || limit == kUnlimited ? limit : (limit + 59) / 60);
}
// Of a text with commas.
template <auto Column>
void json_list(const SheetRow& row, Json& json, std::string_view key) {
    json.open_list(key);
    for (std::string_view word : split(row.text(Column), ',')) {
        if (!word.empty()) json.element(word);
    }
    json.close();
}
// The text that another output shows.
template <void (*Cell)(const SheetRow&, std::string&)>
void json_text_of(const SheetRow& row, Json& json, std::string_view key) {
    std::string text;
    Cell(row, text);
    json.text(key, text);
}

// What Sluice does not have.
inline void json_no_text(const SheetRow&, Json& json, std::string_view key) {
    json.text(key, "");
}
inline void json_zero(const SheetRow&, Json& json, std::string_view key) {
    json.number(key, 0);
}
inline void json_unset(const SheetRow&, Json& json, std::string_view key) {
    json.optional_number(key, kAbsent);
}
inline void json_false(const SheetRow&, Json& json, std::string_view key) {
    json.boolean(key, false);
}
inline void json_no_list(const SheetRow&, Json& json, std::string_view key) {
    json.texts(key, {});
}
inline void json_no_object(const SheetRow&, Json& json, std::string_view key) {
    json.open_object(key);
    json.close();
}
inline void json_cluster(const SheetRow& row, Json& json, std::string_view key) {
    json.text(key, row.looks().cluster);
}

}  // namespace sluice
