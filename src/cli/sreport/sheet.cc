// See sheet.h.
#include "cli/sreport/sheet.h"

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

// "(100.00%)"
constexpr std::uint32_t kPercentWidth = 9;

double in_unit(std::uint64_t seconds, TimeFormat format) {
    const auto amount = static_cast<double>(seconds);
    switch (format) {
        case TimeFormat::Minutes:
        case TimeFormat::MinPer:
            return amount / 60;
        case TimeFormat::Hours:
        case TimeFormat::HourPer:
            return amount / 3600;
        default:
            return amount;
    }
}

const SreportField* find_field(const std::vector<SreportField>& fields, std::string_view name) {
    for (const SreportField& field : fields) {
        if (equals_ignoring_case(field.name, name)) return &field;
    }
    for (const SreportField& field : fields) {
        if (!name.empty() && starts_with_ignoring_case(field.name, name)) return &field;
    }
    return nullptr;
}

}  // namespace

bool has_percent(TimeFormat format) {
    return format == TimeFormat::SecPer || format == TimeFormat::MinPer ||
           format == TimeFormat::HourPer;
}

std::string percent_text(double part, double total) {
    return fmt::format("{:.2f}%", total > 0 ? 100 * part / total : 0.0);
}

std::string amount_text(const Amount& amount, TimeFormat format) {
    const std::string percent = percent_text(static_cast<double>(amount.seconds), amount.total);
    if (format == TimeFormat::Percent) return percent;
    std::string text = fmt::format("{:.0f}", in_unit(amount.seconds, format));
    if (has_percent(format)) text += fmt::format("({})", percent);
    return text;
}

void ReportSheet::make_room(std::string_view field, std::uint64_t seconds) {
    std::uint32_t& digits = digits_[field];
    digits = std::max(digits, static_cast<std::uint32_t>(fmt::to_string(seconds).size()));
}

void ReportSheet::set(std::string_view field, const Amount& amount) {
    make_room(field, amount.seconds);
    set(field, amount_text(amount, settings_->time));
}

std::uint32_t ReportSheet::width_of(const SreportField& field) const {
    if (!field.is_amount) return field.width;
    std::uint32_t width = field.width;
    auto digits = digits_.find(field.name);
    if (settings_->time != TimeFormat::Percent && digits != digits_.end()) {
        width = std::max(width, digits->second);
    }
    return has_percent(settings_->time) ? width + kPercentWidth : width;
}

Result<std::vector<const SreportField*>> ReportSheet::chosen(const ReportRequest& request,
                                                             std::vector<ReportHead>& heads) const {
    std::vector<const SreportField*> fields;
    auto add = [&](const SreportField& field, std::uint32_t width, bool left) {
        fields.push_back(&field);
        heads.push_back({std::string(field.header), width, left});
    };
    if (request.conditions.format.empty()) {
        for (const SreportField& field : fields_) {
            if (field.is_shown) add(field, width_of(field), field.left);
        }
        return fields;
    }
    const std::vector<ReportWord> words = TRY(split_report_format(request.conditions.format));
    for (const ReportWord& word : words) {
        const SreportField* field = find_field(fields_, word.name);
        if (!field) {
            return Error{ErrorCode::NotFound, fmt::format(" Unknown field '{}'", word.name)};
        }
        add(*field, word.width.value_or(width_of(*field)), word.width ? word.left : field->left);
    }
    return fields;
}

Result<std::string> ReportSheet::text(const ReportRequest& request) const {
    std::vector<ReportHead> heads;
    const std::vector<const SreportField*> fields = TRY(chosen(request, heads));
    ReportText report(std::move(heads), request.settings.bars);
    if (request.settings.header) report.add_header();
    for (const auto& line : lines_) {
        report.add_line([&](std::size_t i, std::string& out) {
            auto text = line.find(fields[i]->name);
            if (text != line.end()) out += text->second;
        });
    }
    return report.take();
}

std::string_view time_format_words(TimeFormat format) {
    constexpr std::string_view kWords[] = {"Seconds",
                                           "Minutes",
                                           "Hours",
                                           "Percentage of Total",
                                           "Seconds/Percentage of Total",
                                           "Minutes/Percentage of Total",
                                           "Hours/Percentage of Total"};
    return kWords[static_cast<std::size_t>(format)];
}

std::string usage_units(const ReportRequest& request, bool always_tres) {
    const TimeFormat format = request.settings.time;
    if (format == TimeFormat::Percent) return "Usage reported in Percentage of Total";
    return fmt::format("Usage reported in {} {}",
                       always_tres || request.shows_tres() ? "TRES" : "CPU",
                       time_format_words(format));
}

std::string title_text(const ReportRequest& request, const ReportTitle& title) {
    if (!request.settings.header) return {};
    const std::string dashes(80, '-');
    const std::string length =
        title.has_length ? fmt::format(" ({} secs)", request.length().count()) : "";
    return fmt::format(
        "{}\n{} {} - {}{}\n{}\n{}\n", dashes, title.title, print_moment(request.conditions.start),
        print_moment(request.conditions.end - Seconds{1}), length, title.units, dashes);
}

}  // namespace sluice
