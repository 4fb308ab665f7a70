// model/license.cc: the words of --licenses.
#include "model/license.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr std::uint64_t kLicensesMax = 0xfffffff0;

Error invalid(std::string_view text) {
    return {ErrorCode::InvalidLicense, fmt::format("--licenses={}", text.substr(0, sizes::kWord))};
}

// ";" and blanks are not allowed in a name either: they are mistakes.
bool is_name(std::string_view name) {
    return !name.empty() && name.find_first_of("|,;:= \t\n") == std::string_view::npos;
}

}  // namespace

Result<LicenseDemand> parse_licenses(std::string_view text) {
    LicenseDemand demand;
    if (text.empty()) return demand;
    demand.any = text.find('|') != std::string_view::npos;
    if (demand.any && text.find(',') != std::string_view::npos) return invalid(text);
    for (std::string_view part : split(text, demand.any ? '|' : ',')) {
        std::size_t mark = part.find_first_of(":=");
        std::string_view name = part.substr(0, mark);
        std::optional<std::uint64_t> count = 1;
        if (mark != std::string_view::npos) count = to_number(part.substr(mark + 1));
        if (!is_name(name) || !count || *count > kLicensesMax) return invalid(text);
        if (*count == 0) continue;
        auto same = std::find_if(demand.wanted.begin(), demand.wanted.end(),
                                 [&](const LicenseCount& known) { return known.name == name; });
        if (same == demand.wanted.end()) {
            if (demand.wanted.size() == sizes::kLicenseCount) return invalid(text);
            demand.wanted.push_back({std::string(name), static_cast<std::uint32_t>(*count)});
        } else if (same->count + *count > kLicensesMax) {
            return invalid(text);
        } else {
            same->count += static_cast<std::uint32_t>(*count);
        }
    }
    return demand;
}

std::string print_licenses(const std::vector<LicenseCount>& licenses) {
    std::vector<std::string> words;
    for (const LicenseCount& license : licenses) {
        words.push_back(fmt::format("{}:{}", license.name, license.count));
    }
    return join(words, ",");
}

}  // namespace sluice
