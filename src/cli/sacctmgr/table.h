// cli/sacctmgr/table.h
//
// Listings: each entity has a table of fields, and a format that names the fields shown by default.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/sacctmgr/sacctmgr.h"
#include "model/errors.h"
#include "model/quantity.h"
#include "model/times.h"
#include "surface/report_text.h"

namespace sluice {

template <typename Row>
struct ListField {
    std::string_view name;  // in format=, any case; a beginning of it will do
    std::string_view header;
    std::uint32_t width = 0;
    std::string (*text)(const Row& row) = nullptr;  // nullptr: always blank
};

template <typename Row>
const ListField<Row>* find_list_field(std::span<const ListField<Row>> fields,
                                      std::string_view name) {
    for (const ListField<Row>& field : fields) {
        if (equals_ignoring_case(field.name, name)) return &field;
    }
    for (const ListField<Row>& field : fields) {
        if (!name.empty() && starts_with_ignoring_case(field.name, name)) return &field;
    }
    return nullptr;
}

// Prints the rows; the exit code. Unknown fields are refused.
template <typename Row>
int print_list(const AccountingCommand& command, std::span<const ListField<Row>> fields,
               std::string_view format, const std::vector<Row>& rows) {
    const Result<std::vector<ReportWord>> words = split_report_format(format);
    if (!words) return command.fail(words.error().detail);
    std::vector<ReportHead> heads;
    std::vector<const ListField<Row>*> shown;
    for (const ReportWord& word : *words) {
        const ListField<Row>* field = find_list_field(fields, word.name);
        if (!field) {
            command.streams.err(fmt::format("Unknown field '{}'\n", word.name));
            return 1;
        }
        shown.push_back(field);
        heads.push_back({std::string(field->header), word.width.value_or(field->width), word.left});
    }
    ReportText report(std::move(heads), command.bars);
    if (command.header) report.add_header();
    for (const Row& row : rows) {
        report.add_line([&](std::size_t i, std::string& out) {
            if (shown[i]->text) out += shown[i]->text(row);
        });
    }
    command.streams.out(report.take());
    return 0;
}

// What columns of limits show.
inline std::string count_text(const std::optional<std::uint32_t>& count) {
    return count ? std::to_string(*count) : "";
}
inline std::string wall_text(const std::optional<Seconds>& length) {
    return length ? print_duration(*length) : "";
}
inline constexpr char kCpu[] = "cpu", kNode[] = "node", kMem[] = "mem";
inline std::string one_of(const Tres& tres, const std::string& name) {
    const auto found = tres.find(name);
    if (found == tres.end()) return "";
    return name == kMem ? print_memory(found->second) : std::to_string(found->second);
}

}  // namespace sluice
