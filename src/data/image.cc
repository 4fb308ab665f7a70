#include "data/image.h"

#include <cstddef>

namespace sluice::data {

namespace {

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
        number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
    return number;
}

std::optional<ImageSize> png_size(std::string_view bytes) {
    constexpr std::size_t kHeader = 26;  // signature, chunk IHDR up to the kind of colours
    if (bytes.size() < kHeader || bytes.substr(12, 4) != "IHDR") return {};
    constexpr std::uint32_t kChannels[] = {1, 0, 3, 3, 2, 0, 4};  // by the kind of colours
    const std::uint32_t kind = big_endian(bytes, 25, 1);
    if (kind >= std::size(kChannels)) return {};
    return ImageSize{"PNG", big_endian(bytes, 16, 4), big_endian(bytes, 20, 4), kChannels[kind]};
}

// The first segment that starts a frame has the size.
std::optional<ImageSize> jpeg_size(std::string_view bytes) {
    std::size_t at = 2;
    while (at + 4 <= bytes.size() && bytes[at] == '\xff') {
        const std::uint32_t marker = big_endian(bytes, at + 1, 1);
        if (marker == 0xff) {  // padding
            ++at;
            continue;
        }
        const bool is_frame =
            marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (is_frame && at + 10 <= bytes.size()) {
            return ImageSize{"JPEG", big_endian(bytes, at + 7, 2), big_endian(bytes, at + 5, 2),
                             big_endian(bytes, at + 9, 1)};
        }
        at += 2 + big_endian(bytes, at + 2, 2);
    }
    return {};
}

}  // namespace

std::optional<ImageSize> image_size(std::string_view bytes) {
    constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";
    if (bytes.starts_with(kPng)) return png_size(bytes);
    if (bytes.starts_with("\xff\xd8")) return jpeg_size(bytes);
    return {};
}

}  // namespace sluice::data
