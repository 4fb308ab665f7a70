// See report_text.h.
#include "surface/report_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

// Bytes of UTF-8 that continue a character take no place of their own.
bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::size_t characters_in(std::string_view text) {
    std::size_t count = 0;
    for (char byte : text) count += continues(byte) ? 0 : 1;
    return count;
}

// The number of bytes of the first `count` characters.
std::size_t bytes_of(std::string_view text, std::size_t count) {
    std::size_t bytes = 0;
    for (; bytes < text.size(); ++bytes) {
        if (continues(text[bytes])) continue;
        if (count-- == 0) break;
    }
    return bytes;
}

}  // namespace

Result<std::vector<ReportWord>> split_report_format(std::string_view text) {
    constexpr std::uint64_t kWidthMax = 10000;
    std::vector<ReportWord> words;
    for (std::string_view piece : split(text, ',')) {
        piece = trim(piece);
        if (piece.empty()) continue;
        const std::size_t percent = piece.find('%');
        ReportWord word{.name = piece.substr(0, percent), .width = {}};
        if (percent != std::string_view::npos) {
            std::string_view digits = piece.substr(percent + 1);
            word.left = digits.starts_with('-');
            if (word.left) digits.remove_prefix(1);
            const std::optional<std::uint64_t> number = to_number(digits);
            if (!number || *number == 0 || *number > kWidthMax) {
                return Error{ErrorCode::BadArgument,
                             fmt::format("Invalid width in format: \"{}\"", piece)};
            }
            word.width = static_cast<std::uint32_t>(*number);
        }
        words.push_back(word);
    }
    return words;
}

void ReportText::finish_cell(std::size_t column, std::size_t start, bool is_value) {
    const ReportHead& head = heads_[column];
    if (bars_ != Bars::None) {
        if (bars_ == Bars::AfterEach || column + 1 < heads_.size()) out_ += delimiter_;
        return;
    }
    const std::size_t length = characters_in(std::string_view(out_).substr(start));
    if (length > head.width) {
        const std::size_t kept = head.width - (is_value ? 1 : 0);
        out_.resize(start + bytes_of(std::string_view(out_).substr(start), kept));
        if (is_value) out_ += '+';
    } else if (head.left) {
        out_.append(head.width - length, ' ');
    } else {
        out_.insert(start, head.width - length, ' ');
    }
    out_ += ' ';
}

void ReportText::add_header() {
    for (std::size_t i = 0; i < heads_.size(); ++i) {
        const std::size_t start = out_.size();
        out_ += heads_[i].header;
        finish_cell(i, start, false);
    }
    out_ += '\n';
    if (bars_ != Bars::None) return;
    for (const ReportHead& head : heads_) out_.append(head.width, '-').append(" ");
    out_ += '\n';
}

}  // namespace sluice
