#include "surface/record.h"

#include <algorithm>

#include "base/check.h"

namespace sluice {

RecordLayout::RecordLayout(const std::vector<RecordKey>& keys,
                           std::span<const std::string_view> lines) {
    std::size_t placed = 0;
    for (std::string_view text : lines) {
        Line& line = lines_.emplace_back();
        line.ends_with_blank = text.ends_with(' ');
        for (std::string_view word : words(text)) {
            auto found = std::find_if(keys.begin(), keys.end(),
                                      [&](const RecordKey& key) { return key.key == word; });
            CHECK(found != keys.end());
            line.keys.push_back(*found);
            ++placed;
        }
    }
    CHECK(placed == keys.size());
}

void RecordLayout::append(const SheetRow& row, const RecordStyle& style, std::string& out) const {
    const std::string_view new_line = style.one_line ? " " : "\n   ";
    std::string text;
    bool is_first = true;
    for (const Line& line : lines_) {
        bool is_open = false;
        for (const RecordKey& key : line.keys) {
            if ((key.flags & kIfDetails) && !style.details) continue;
            if (key.applies && !key.applies(row)) continue;
            text.clear();
            key.append(row, text);
            if ((key.flags & (kIfSet | kLines)) && text.empty()) continue;
            if (key.flags & kLines) {
                for (std::string_view each : split(text, '\n')) {
                    out.append(new_line).append("  ").append(each);
                }
                continue;
            }
            if (!is_first) out += is_open ? std::string_view(" ") : new_line;
            is_first = false;
            is_open = true;
            out.append(key.key).append("=").append(text);
        }
        if (is_open && line.ends_with_blank) out += ' ';
    }
    out += style.one_line ? "\n" : "\n\n";
}

}  // namespace sluice
