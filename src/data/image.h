// data/image.h
//
// The format and size of an image, from its first bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::data {

struct ImageSize {
    std::string_view format;  // "JPEG", "PNG"
    std::uint32_t width = 0, height = 0, channels = 0;
};

// Nothing if it is neither a JPEG nor a PNG file, or damaged.
std::optional<ImageSize> image_size(std::string_view bytes);

}  // namespace sluice::data
