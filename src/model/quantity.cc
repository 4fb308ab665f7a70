// model/quantity.cc: memory, generic resources and trackable resources as text.
#include "model/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::uint64_t kCountMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kUnits = "kmgtp";  // each 1024 times the one before

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

Error bad_memory(std::string_view text) {
    return {ErrorCode::BadArgument, fmt::format("memory \"{}\"", text)};
}
Error bad_gres(std::string_view item) {
    return {ErrorCode::InvalidGres, fmt::format("\"{}\"", item)};
}
Error bad_tres(std::string_view item) {
    return {ErrorCode::BadArgument, fmt::format("trackable resource \"{}\"", item)};
}

std::optional<std::uint64_t> scaled(std::uint64_t number, int powers) {
    for (; powers > 0; --powers) {
        if (number > kCountMax / 1024) return {};
        number *= 1024;
    }
    return number;
}

// "2", "1k" (1024), "3M".
std::optional<std::uint64_t> parse_count(std::string_view text) {
    if (text.empty()) return {};
    std::size_t unit = kUnits.find(lower(text.back()));
    if (unit == std::string_view::npos) return to_number(text);
    std::optional<std::uint64_t> number = to_number(text.substr(0, text.size() - 1));
    if (!number) return {};
    return scaled(*number, static_cast<int>(unit) + 1);
}

bool is_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c > ' ' && c != 127 && c != ',' && c != ':' && c != '=' && c != '/';
    });
}

// What follows the name: "", "2", "a40", "a40:2" or "a40=2".
bool parse_type_and_count(std::string_view text, GresCount& gres) {
    std::size_t mark = text.find_last_of(":=");
    if (mark == std::string_view::npos) {
        if (std::optional<std::uint64_t> count = parse_count(text)) {
            gres.count = *count;
            return true;
        }
        gres.type = text;
        return is_word(text);
    }
    std::optional<std::uint64_t> count = parse_count(text.substr(mark + 1));
    gres.type = text.substr(0, mark);
    gres.count = count.value_or(0);
    return count && is_word(gres.type);
}

Result<GresCount> parse_gres_item(std::string_view item) {
    std::string_view text = trim(item);
    if (text.starts_with("gres/") || text.starts_with("gres:")) text.remove_prefix(5);
    std::size_t mark = text.find_first_of(":=");
    GresCount gres{.name = std::string(text.substr(0, mark))};
    if (!is_word(gres.name) || gres.name == "gres") return bad_gres(item);
    if (mark == std::string_view::npos) return gres;
    std::string_view rest = text.substr(mark + 1);
    // "gpu=2" cannot have a type.
    if (text[mark] == '=' && !parse_count(rest)) return bad_gres(item);
    if (!parse_type_and_count(rest, gres)) return bad_gres(item);
    return gres;
}

std::string print_item(const GresCount& gres) {
    const std::string count = print_gres_count(gres.count);
    if (gres.type.empty()) return fmt::format("{}:{}", gres.name, count);
    return fmt::format("{}:{}:{}", gres.name, gres.type, count);
}

constexpr std::array<std::string_view, 8> kTresById = {"cpu",     "mem",     "energy", "node",
                                                       "billing", "fs/disk", "vmem",   "pages"};

std::size_t tres_rank(std::string_view name) {
    return std::find(kTresById.begin(), kTresById.end(), name) - kTresById.begin();
}

std::string tres_name(std::string_view text) {
    std::string name = to_lower(text);
    return tres_rank(name) < kTresById.size() ? name : std::string(text);
}

// As printed in TRES lists, where half a unit may occur: "62.50G".
std::optional<Megabytes> parse_shown_memory(std::string_view text) {
    std::size_t point = text.find(".50");
    if (point == std::string_view::npos || point + 4 != text.size()) {
        Result<Megabytes> whole = parse_memory(text);
        if (!whole) return {};
        return *whole;
    }
    std::size_t unit = kUnits.find(lower(text.back()));
    std::optional<std::uint64_t> number = to_number(text.substr(0, point));
    if (!number || unit == std::string_view::npos || unit < 2) return {};
    if (*number > kCountMax / 4) return {};
    std::optional<std::uint64_t> size = scaled(*number * 2 + 1, static_cast<int>(unit) - 1);
    if (!size) return {};
    return *size / 2;
}

Result<void> add_tres(Tres& tres, std::string_view item) {
    std::size_t mark = item.find('=');
    // The colon form is only for generic resources: "gres/gpu:2".
    if (mark == std::string_view::npos && item.starts_with("gres/")) mark = item.rfind(':');
    if (mark == std::string_view::npos) return bad_tres(item);
    std::string name = tres_name(trim(item.substr(0, mark)));
    std::string_view value = trim(item.substr(mark + 1));
    std::optional<std::uint64_t> count =
        name == "mem" ? parse_shown_memory(value) : parse_count(value);
    bool clean = !name.empty() && std::all_of(name.begin(), name.end(),
                                              [](unsigned char c) { return c > ' ' && c != 127; });
    if (!clean || !count || !tres.emplace(std::move(name), *count).second) return bad_tres(item);
    return {};
}

}  // namespace

Result<Megabytes> parse_memory(std::string_view text) {
    std::string_view number = trim(text);
    int unit = 1;  // M
    if (number.size() > 1 && lower(number.back()) == 'b' &&
        kUnits.find(lower(number[number.size() - 2])) != std::string_view::npos) {
        number.remove_suffix(1);
    }
    if (!number.empty()) {
        std::size_t found = kUnits.find(lower(number.back()));
        if (found != std::string_view::npos) {
            unit = static_cast<int>(found);
            number.remove_suffix(1);
        }
    }
    std::optional<std::uint64_t> size = to_number(number);
    if (!size) return bad_memory(text);
    if (unit == 0) return *size / 1024 + (*size % 1024 != 0);
    size = scaled(*size, unit - 1);
    if (!size) return bad_memory(text);
    return *size;
}

// Compat: the largest unit in which the size is a whole or a half number: 1536 is "1.50G", 1280 is
// "1280M".
std::string print_memory(Megabytes megabytes) {
    if (megabytes == 0) return "0";
    constexpr std::string_view kShown = "MGTP";
    std::size_t unit = 0;
    while (megabytes >= 1024 && megabytes % 1024 == 0 && unit + 1 < kShown.size()) {
        megabytes /= 1024;
        ++unit;
    }
    if (megabytes >= 1024 && megabytes % 512 == 0 && unit + 1 < kShown.size()) {
        return fmt::format("{}.50{}", megabytes / 1024, kShown[unit + 1]);
    }
    return fmt::format("{}{}", megabytes, kShown[unit]);
}

Result<std::vector<GresCount>> parse_gres(std::string_view text) {
    std::vector<GresCount> list;
    if (equals_ignoring_case(trim(text), "none")) return list;
    for (std::string_view item : split(text, ',')) list.push_back(TRY(parse_gres_item(item)));
    return list;
}

Result<std::vector<GresCount>> parse_gpus(std::string_view text) {
    std::vector<GresCount> list;
    if (trim(text).empty()) return list;
    for (std::string_view item : split(text, ',')) {
        GresCount gpu{.name = "gpu"};
        if (!parse_type_and_count(trim(item), gpu)) return bad_gres(item);
        list.push_back(std::move(gpu));
    }
    return list;
}

std::string print_gpus(const std::vector<GresCount>& gres) {
    std::string text;
    for (const GresCount& each : gres) {
        if (each.name != "gpu") continue;
        if (!text.empty()) text += ',';
        text += each.type.empty() ? fmt::format("{}", each.count)
                                  : fmt::format("{}:{}", each.type, each.count);
    }
    return text;
}

std::string print_gres_count(std::uint64_t count) {
    std::size_t unit = 0;
    for (; count > 0 && count % 1024 == 0 && unit < kUnits.size(); ++unit) count /= 1024;
    return unit == 0 ? fmt::format("{}", count)
                     : fmt::format("{}{}", count, upper(kUnits[unit - 1]));
}

std::string print_gres(const std::vector<GresCount>& gres) {
    std::vector<std::string> items;
    for (const GresCount& one : gres) items.push_back(print_item(one));
    return join(items, ",");
}

std::string print_tres_per(const std::vector<GresCount>& gres) {
    std::vector<std::string> items;
    for (const GresCount& one : gres) items.push_back("gres/" + print_item(one));
    return join(items, ",");
}

bool TresLess::operator()(const std::string& a, const std::string& b) const {
    std::size_t left = tres_rank(a), right = tres_rank(b);
    return left != right ? left < right : a < b;
}

Result<Tres> parse_tres(std::string_view text) {
    Tres tres;
    if (trim(text).empty()) return tres;
    for (std::string_view item : split(text, ',')) TRY(add_tres(tres, item));
    return tres;
}

std::string print_tres(const Tres& tres) {
    std::vector<std::string> items;
    for (const auto& [name, count] : tres) {
        items.push_back(name == "mem" ? fmt::format("mem={}", print_memory(count))
                                      : fmt::format("{}={}", name, count));
    }
    return join(items, ",");
}

}  // namespace sluice
