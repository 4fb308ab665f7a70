// cli/sreport/sheet.h
//
// The lines of one report: which fields there are, the texts of each line, and amounts in the
// format of -t. A column of amounts is as wide as its largest number needs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sreport/request.h"
#include "surface/report_text.h"

namespace sluice {

struct SreportField {
    std::string_view name;  // in format=, any case; a beginning of it will do
    std::string_view header;
    std::uint32_t width = 0;
    bool is_shown = true;  // unless format= says what is
    bool is_amount = false;
    bool left = false;
};

// An amount * seconds, and what is 100 % of it.
struct Amount {
    std::uint64_t seconds = 0;
    double total = 0;
};

class ReportSheet {
public:
    ReportSheet(std::span<const SreportField> fields, const ReportSettings& settings)
        : fields_(fields.begin(), fields.end()), settings_(&settings) {}

    void begin_line() { lines_.emplace_back(); }
    void set(std::string_view field, std::string text) { lines_.back()[field] = std::move(text); }
    void set(std::string_view field, const Amount& amount);
    // The column is wide enough for this number, also where no line has it.
    void make_room(std::string_view field, std::uint64_t seconds);

    // The table. An error's detail names the unknown field.
    Result<std::string> text(const ReportRequest& request) const;

private:
    Result<std::vector<const SreportField*>> chosen(const ReportRequest& request,
                                                    std::vector<ReportHead>& heads) const;
    std::uint32_t width_of(const SreportField& field) const;

    std::vector<SreportField> fields_;
    const ReportSettings* settings_;
    std::vector<std::map<std::string_view, std::string>> lines_;
    std::map<std::string_view, std::uint32_t> digits_;
};

std::string amount_text(const Amount& amount, TimeFormat format);
bool has_percent(TimeFormat format);  // beside the time
std::string percent_text(double part, double total);

// The lines of dashes around a title and what it is reported in.
struct ReportTitle {
    std::string title;       // "Cluster Utilization"
    bool has_length = true;  // "(86400 secs)" follows the times
    std::string units;       // "Usage reported in CPU Minutes"
};
std::string title_text(const ReportRequest& request, const ReportTitle& title);
std::string usage_units(const ReportRequest& request, bool always_tres);
std::string_view time_format_words(TimeFormat format);  // "Minutes/Percentage of Total"

}  // namespace sluice
