#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace sluice {

namespace {
constexpr std::string_view kBlanks = " \t\r\n\v\f";

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    for (std::size_t start = 0;;) {
        std::size_t end = text.find(separator, start);
        pieces.push_back(text.substr(start, end - start));
        if (end == std::string_view::npos) return pieces;
        start = end + 1;
    }
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> result;
    for (std::size_t start = text.find_first_not_of(kBlanks); start != std::string_view::npos;) {
        std::size_t end = std::min(text.find_first_of(kBlanks, start), text.size());
        result.push_back(text.substr(start, end - start));
        start = text.find_first_not_of(kBlanks, end);
    }
    return result;
}

std::string_view trim(std::string_view text) {
    std::size_t start = text.find_first_not_of(kBlanks);
    if (start == std::string_view::npos) return {};
    return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

std::string to_lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

std::string to_upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return result;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() &&
           equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
    std::string result;
    for (const std::string& piece : pieces) {
        if (&piece != &pieces.front()) result += separator;
        result += piece;
    }
    return result;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
    std::uint64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
    return number;
}

}  // namespace sluice
