#include "surface/format.h"

#include <algorithm>

namespace sluice {

namespace {

constexpr std::uint32_t kLongWidth = 20;
constexpr std::uint32_t kWidthMax = 65536;  // more is a typing error, not a demand

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// "[.][digits]" at `at`; moves it past them.
void read_width(std::string_view text, std::size_t& at, FormatWord& word) {
    if (at < text.size() && text[at] == '.') {
        word.right = true;
        ++at;
    } else if (at < text.size() && text[at] == '-') {
        ++at;  // left is what it is anyway
    }
    for (; at < text.size() && is_digit(text[at]); ++at) {
        word.width =
            std::min(word.width * 10 + static_cast<std::uint32_t>(text[at] - '0'), kWidthMax);
    }
}

}  // namespace

std::vector<FormatWord> split_short_format(std::string_view text) {
    std::vector<FormatWord> found;
    std::size_t at = std::min(text.find('%'), text.size());
    if (at > 0) found.push_back({.literal = text.substr(0, at)});
    while (at < text.size()) {
        FormatWord word;
        // Compat: "%%" is one '%' and no way to print one.
        while (at + 1 < text.size() && text[at + 1] == '%') ++at;
        const std::size_t start = at++;
        read_width(text, at, word);
        if (at < text.size()) word.name = text.substr(at++, 1);
        word.literal = text.substr(start, at - start);
        const std::size_t next = std::min(text.find('%', at), text.size());
        word.suffix = text.substr(at, next - at);
        found.push_back(word);
        at = next;
    }
    return found;
}

std::vector<FormatWord> split_long_format(std::string_view text) {
    std::vector<FormatWord> found;
    for (std::string_view piece : split(text, ',')) {
        const std::size_t colon = piece.find(':');
        FormatWord word{.name = piece.substr(0, colon), .literal = piece};
        if (colon == std::string_view::npos) {
            word.width = kLongWidth;
        } else {
            std::size_t at = colon + 1;
            read_width(piece, at, word);
            word.suffix = piece.substr(at);
        }
        found.push_back(word);
    }
    return found;
}

void fit(std::string& out, std::size_t start, std::uint32_t width, bool right, bool keep_whole) {
    const std::size_t length = out.size() - start;
    if (width == 0 || length == width) return;
    if (length > width) {
        if (right && keep_whole) return;
        // Compat: a missing text that does not fit whole leaves the column empty, as C's printf
        // does.
        if (!right && std::string_view(out).substr(start) == "(null)") {
            out.replace(start, length, width, ' ');
        } else {
            out.resize(start + width);
        }
    } else if (right) {
        out.insert(start, width - length, ' ');
    } else {
        out.append(width - length, ' ');
    }
}

}  // namespace sluice
