// See report.h.
#include "surface/report.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

// Headings are cut, values are marked where they were.
void append_cell(const ReportColumn& column, std::string_view text, bool is_value,
                 std::string& out) {
    const bool too_long = text.size() > column.width;
    if (too_long) text = text.substr(0, column.width - (is_value ? 1 : 0));
    const std::string cell = fmt::format("{}{}", text, too_long && is_value ? "+" : "");
    if (column.left)
        out += fmt::format("{:<{}} ", cell, column.width);
    else
        out += fmt::format("{:>{}} ", cell, column.width);
}

template <typename Text>
void append_line(const std::vector<ReportColumn>& columns, Bars bars, bool is_value, Text text,
                 std::string& out) {
    for (const ReportColumn& column : columns) {
        if (bars == Bars::None) {
            append_cell(column, text(column), is_value, out);
            continue;
        }
        out += text(column);
        if (bars == Bars::AfterEach || &column != &columns.back()) out += '|';
    }
    out += '\n';
}

}  // namespace

const ReportField* find_report_field(std::span<const ReportField> fields, std::string_view name) {
    for (const ReportField& field : fields) {
        if (equals_ignoring_case(field.name, name)) return &field;
    }
    for (const ReportField& field : fields) {
        if (!name.empty() && starts_with_ignoring_case(field.name, name)) return &field;
    }
    return nullptr;
}

std::vector<ReportColumn> shown_columns(std::span<const ReportField> fields) {
    std::vector<ReportColumn> columns;
    for (const ReportField& field : fields) {
        if (field.is_shown) columns.push_back({&field, field.width});
    }
    return columns;
}

Result<std::vector<ReportColumn>> parse_report_format(std::string_view text,
                                                      std::span<const ReportField> fields) {
    std::vector<ReportColumn> columns;
    for (std::string_view word : split(text, ',')) {
        const std::size_t percent = word.find('%');
        const ReportField* field = find_report_field(fields, word.substr(0, percent));
        if (!field) return Error{ErrorCode::NotFound, std::string(word.substr(0, percent))};
        ReportColumn column{field, field->width};
        if (percent != std::string_view::npos) {
            std::string_view width = word.substr(percent + 1);
            column.left = width.starts_with('-');
            if (column.left) width.remove_prefix(1);
            const std::optional<std::uint64_t> number = to_number(width);
            if (!number || *number == 0 || *number > 10000)
                return Error{ErrorCode::NotFound, std::string(word)};
            column.width = static_cast<std::uint32_t>(*number);
        }
        columns.push_back(column);
    }
    return columns;
}

std::string print_report(const std::vector<ReportColumn>& columns, const Sheet& sheet, Bars bars,
                         bool header) {
    std::string out;
    if (header) {
        append_line(
            columns, bars, false, [](const ReportColumn& column) { return column.field->header; },
            out);
    }
    if (header && bars == Bars::None) {
        append_line(
            columns, bars, false, [](const ReportColumn& c) { return std::string(c.width, '-'); },
            out);
    }
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        const SheetRow row{&sheet, i};
        append_line(
            columns, bars, true,
            [&](const ReportColumn& column) {
                std::string text;
                if (column.field->append) column.field->append(row, text);
                return text;
            },
            out);
    }
    return out;
}

}  // namespace sluice
