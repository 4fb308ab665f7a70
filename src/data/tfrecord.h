// data/tfrecord.h
//
// Records of a TFRecord file: length, checksum of the length, bytes, checksum of the bytes; the
// bytes are a tf.train.Example with the names of TensorFlow's converter of ImageNet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::data {

constexpr std::size_t kFrameHead = 12, kFrameTail = 4;

struct ImageLabel {
    std::uint32_t number = 0;  // 0: none
    std::string_view name;
};

// Appends the record of one file.
void append_example(std::string& out, std::string_view path, ImageLabel label,
                    std::string_view bytes);

// The bytes of the frame that begins `frame`, whose checksums are verified; `frame` may go on.
Result<std::string_view> frame_content(std::string_view frame);
// The length that the head of a frame says; nothing if its checksum does not match.
std::optional<std::uint64_t> frame_length(std::string_view head);

// The file that append_example() was given.
struct StoredFile {
    std::string path;
    std::string bytes;
};
Result<StoredFile> file_of_example(std::string_view example);

}  // namespace sluice::data
