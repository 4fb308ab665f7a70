// surface/report.h
//
// Tables as the accounting tools print them: a heading and dashes over columns, values that are too
// long cut and marked with '+'; or cells with bars between them, for scripts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "surface/sheet.h"

namespace sluice {

struct ReportField {
    std::string_view name;  // in format=, any case; a beginning of it will do
    std::string_view header;
    std::uint32_t width = 0;
    bool is_shown = true;                                             // unless format= says what is
    void (*append)(const SheetRow& row, std::string& out) = nullptr;  // nullptr: always blank
};

struct ReportColumn {
    const ReportField* field = nullptr;
    std::uint32_t width = 0;
    bool left = false;
};

enum class Bars : unsigned char { None, Between, AfterEach };

const ReportField* find_report_field(std::span<const ReportField> fields, std::string_view name);
std::vector<ReportColumn> shown_columns(std::span<const ReportField> fields);
// "name%20,priority%-8": an error's detail is the word that names no field.
Result<std::vector<ReportColumn>> parse_report_format(std::string_view text,
                                                      std::span<const ReportField> fields);

std::string print_report(const std::vector<ReportColumn>& columns, const Sheet& sheet, Bars bars,
                         bool header);

}  // namespace sluice
