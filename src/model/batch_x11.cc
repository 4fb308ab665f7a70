// model/batch_x11.cc: see batch_x11.h.
#include "model/batch_x11.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

int digit_of(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    return -1;
}

Error bad(std::string_view text) {
    return {ErrorCode::BadArgument, fmt::format("x11: '{}' names no display and cookie", text)};
}

}  // namespace

std::string print_batch_display(std::string_view display, std::string_view cookie) {
    std::string text = fmt::format("{} ", display);
    for (const char each : cookie) text += fmt::format("{:02x}", static_cast<unsigned char>(each));
    return text;
}

Result<BatchDisplay> parse_batch_display(std::string_view text) {
    const std::vector<std::string_view> parts = words(text);
    if (parts.size() != 2 || parts[1].size() % 2 != 0) return bad(text);
    const std::size_t colon = parts[0].rfind(':');
    if (colon == std::string_view::npos || colon == 0) return bad(text);
    const std::string_view numbers = parts[0].substr(colon + 1);
    const auto number = to_number(numbers.substr(0, numbers.find('.')));
    if (!number || *number > 0xffff) return bad(text);
    BatchDisplay found{.display = std::string(parts[0]),
                       .number = static_cast<std::uint32_t>(*number),
                       .cookie = {}};
    for (std::size_t i = 0; i < parts[1].size(); i += 2) {
        const int high = digit_of(parts[1][i]), low = digit_of(parts[1][i + 1]);
        if (high < 0 || low < 0) return bad(text);
        found.cookie += static_cast<char>(high * 16 + low);
    }
    return found;
}

}  // namespace sluice
