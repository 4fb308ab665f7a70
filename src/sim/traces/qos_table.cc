// sim/traces/qos_table.cc
//
// What `sacctmgr -P show qos` prints. What a QOS cannot have here is refused when the table is set.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/qos_keys.h"
#include "model/text_table.h"
#include "sim/world.h"

namespace sluice {
namespace {

// Columns that do not affect scheduling.
constexpr std::string_view kIdle[] = {"id", "descr", "usagefactor", "usagethres"};

bool is_idle(std::string_view column) {
    return std::find(std::begin(kIdle), std::end(kIdle), column) != std::end(kIdle);
}

// "00:01:00" is what the table shows, seconds are what it takes.
Result<std::string> value_in(const TableRow& row, std::size_t column, std::string_view key) {
    const std::string_view cell = trim(row.cells[column]);
    if (key != "gracetime") return std::string(cell);
    std::int64_t seconds = 0;
    for (std::string_view part : split(cell, ':')) {
        const std::optional<std::uint64_t> number = to_number(part);
        if (!number || *number > 1'000'000)
            return row.wrong(column, key, "a time such as 00:01:00");
        seconds = seconds * 60 + static_cast<std::int64_t>(*number);
    }
    return std::to_string(seconds);
}

Result<QosChange> change_in(const TableRow& row, const std::vector<std::string>& header) {
    KeyTexts keys;
    for (std::size_t i = 0; i < header.size(); ++i) {
        if (header[i] == "name" || is_idle(header[i]) || trim(row.cells[i]).empty()) continue;
        std::string value = TRY(value_in(row, i, header[i]));
        keys.emplace_back(header[i], std::move(value));
    }
    return parse_qos_change(keys);
}

}  // namespace

Result<QosDefinitions> parse_qos_table(const std::string& path, std::string_view text) {
    QosDefinitions table;
    std::vector<std::string> header;
    std::size_t number = 0, name = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        const TableRow row{path, number, split(line, '|')};
        if (header.empty()) {
            name = TRY(TableHeader(row).required(path, "name"));
            for (std::string_view cell : row.cells) header.push_back(to_lower(trim(cell)));
            continue;
        }
        if (row.cells.size() != header.size())
            return row.wrong(row.cells.size(), "line", "as many cells as in the first line");
        QosChange change = TRY(change_in(row, header));
        table.emplace_back(std::string(trim(row.cells[name])), std::move(change));
    }
    return table;
}

}  // namespace sluice
