#include "data/tfrecord.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <bit>
#include <cstring>

#include "base/text.h"
#include "data/crc32c.h"
#include "data/image.h"
#include "example.pb.h"

namespace sluice::data {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kPath[] = "sluice/path";  // TensorFlow's image/filename has no directories
constexpr char kEncoded[] = "image/encoded";

class Features {
public:
    explicit Features(tensorflow::Example& example)
        : map_(*example.mutable_features()->mutable_feature()) {}
    void add(const char* name, std::string_view text) {
        map_[name].mutable_bytes_list()->add_value(text.data(), text.size());
    }
    void add(const char* name, std::uint32_t number) {
        map_[name].mutable_int64_list()->add_value(number);
    }

private:
    google::protobuf::Map<std::string, tensorflow::Feature>& map_;
};

// "jpg" of "a/b.jpg", if there is one.
std::string_view extension_of(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
}

tensorflow::Example example_of(std::string_view path, ImageLabel label, std::string_view bytes) {
    tensorflow::Example example;
    Features features(example);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    features.add(kPath, path);
    features.add("image/filename", name);
    if (const auto image = image_size(bytes)) {
        features.add("image/format", image->format);
        features.add("image/height", image->height);
        features.add("image/width", image->width);
        features.add("image/channels", image->channels);
        features.add("image/colorspace", image->channels == 1 ? "Grayscale" : "RGB");
    } else {
        features.add("image/format", to_upper(extension_of(name)));
    }
    if (label.number > 0) {
        features.add("image/class/label", label.number);
        features.add("image/class/synset", label.name);
        features.add("image/class/text", label.name);
    }
    features.add(kEncoded, bytes);
    return example;
}

template <typename T>
void append_number(std::string& out, T number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out.append(bytes, sizeof number);
}

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

const std::string* text_of(const tensorflow::Example& example, const char* name) {
    const auto& map = example.features().feature();
    const auto found = map.find(name);
    if (found == map.end() || found->second.bytes_list().value_size() != 1) return nullptr;
    return &found->second.bytes_list().value(0);
}

}  // namespace

void append_example(std::string& out, std::string_view path, ImageLabel label,
                    std::string_view bytes) {
    const tensorflow::Example example = example_of(path, label, bytes);
    const std::uint64_t length = example.ByteSizeLong();
    const std::size_t start = out.size();
    append_number(out, length);
    append_number(out, masked(crc32c(std::string_view(out).substr(start, 8))));
    {
        google::protobuf::io::StringOutputStream stream(&out);
        google::protobuf::io::CodedOutputStream coded(&stream);
        coded.SetSerializationDeterministic(true);  // in the order of the names
        example.SerializeWithCachedSizes(&coded);
    }
    append_number(out, masked(crc32c(std::string_view(out).substr(start + kFrameHead, length))));
}

std::optional<std::uint64_t> frame_length(std::string_view head) {
    if (head.size() < kFrameHead) return {};
    if (number_at<std::uint32_t>(head, 8) != masked(crc32c(head.substr(0, 8)))) return {};
    return number_at<std::uint64_t>(head, 0);
}

Result<std::string_view> frame_content(std::string_view frame) {
    const auto length = frame_length(frame);
    if (!length || *length > frame.size() - kFrameHead ||
        frame.size() - kFrameHead - *length < kFrameTail)
        return Error{{}, "the length of the record is damaged"};
    const std::string_view content = frame.substr(kFrameHead, *length);
    if (number_at<std::uint32_t>(frame, kFrameHead + *length) != masked(crc32c(content)))
        return Error{{}, "the checksum of the record does not match"};
    return content;
}

Result<StoredFile> file_of_example(std::string_view bytes) {
    tensorflow::Example example;
    if (!example.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return Error{{}, "the record is no tf.train.Example"};
    const std::string *path = text_of(example, kPath), *encoded = text_of(example, kEncoded);
    if (!encoded) return Error{{}, "the record has no image/encoded"};
    if (!path) path = text_of(example, "image/filename");
    if (!path) return Error{{}, "the record has no file name"};
    return StoredFile{*path, *encoded};
}

}  // namespace sluice::data
