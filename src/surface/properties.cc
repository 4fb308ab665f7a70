#include "surface/properties.h"

#include "base/text.h"

namespace sluice {

namespace {

// Closes and opens objects, so that the next key goes into the object `wanted`.
void move_into(std::vector<std::string_view>& open, const std::vector<std::string_view>& wanted,
               Json& json) {
    std::size_t same = 0;
    while (same < open.size() && same < wanted.size() && open[same] == wanted[same]) ++same;
    for (; open.size() > same; open.pop_back()) json.close();
    for (; open.size() < wanted.size(); open.push_back(wanted[open.size()])) {
        json.open_object(wanted[open.size()]);
    }
}

}  // namespace

bool less_ignoring_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [&](char x, char y) { return lower(x) < lower(y); });
}

void write_json(std::span<const JsonKey> keys, const SheetRow& row, Json& json) {
    std::vector<std::string_view> open;
    for (const JsonKey& key : keys) {
        if (json.version() < key.oldest || json.version() > key.newest) continue;
        std::vector<std::string_view> path;
        if (!open.empty() || key.path.find('/') != std::string_view::npos) {
            path = split(key.path, '/');
            path.pop_back();
            move_into(open, path, json);
        }
        key.write(row, json, key.path.substr(key.path.rfind('/') + 1));
    }
    move_into(open, {}, json);
}

void write_json_rows(std::string_view name, std::span<const JsonKey> keys, const Sheet& sheet,
                     Json& json) {
    json.open_list(name);
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        json.open_object();
        write_json(keys, {&sheet, i}, json);
        json.close();
    }
    json.close();
}

std::string json_document(std::string_view name, std::span<const JsonKey> keys, const Sheet& sheet,
                          const JsonMeta& meta) {
    Json json(meta.style);
    json.open_object();
    write_json_rows(name, keys, sheet, json);
    json.optional_number("last_update", to_unix(sheet.looks().now));
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace sluice
