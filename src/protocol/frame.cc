// protocol/frame.cc
//
// See frame.h.
#include "protocol/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "model/errors.h"

namespace sluice {

namespace {

void put_length(char* out, std::uint32_t length) {
    for (std::size_t i = 0; i < kFrameHeaderSize; ++i) {
        out[i] = static_cast<char>(length >> (8 * i) & 0xff);
    }
}

std::uint32_t get_length(const char* bytes) {
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < kFrameHeaderSize; ++i) {
        length |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return length;
}

}  // namespace

void append_frame(std::string& out, const google::protobuf::MessageLite& message) {
    const std::size_t size = message.ByteSizeLong();
    CHECK(size <= std::numeric_limits<std::int32_t>::max());
    const std::size_t start = out.size();
    out.resize(start + kFrameHeaderSize + size);
    put_length(out.data() + start, static_cast<std::uint32_t>(size));
    message.SerializeWithCachedSizesToArray(
        reinterpret_cast<std::uint8_t*>(out.data() + start + kFrameHeaderSize));
}

void FrameReader::feed(std::string_view bytes) {
    if (start_ > buffer_.size() / 2) {  // so that each byte moves at most once on average
        buffer_.erase(0, start_);
        start_ = 0;
    }
    const std::size_t dropped = std::min(skip_, bytes.size());
    skip_ -= dropped;
    buffer_.append(bytes.substr(dropped));
}

Result<std::optional<std::string_view>> FrameReader::next() {
    const std::string_view waiting = std::string_view(buffer_).substr(start_);
    if (waiting.size() < kFrameHeaderSize) return std::optional<std::string_view>{};
    const std::size_t length = get_length(waiting.data());
    if (length > size_max_) {
        return Error{
            ErrorCode::MessageTooLarge,
            fmt::format("a message of {} bytes was announced, the limit is {}", length, size_max_)};
    }
    if (waiting.size() < kFrameHeaderSize + length) return std::optional<std::string_view>{};
    start_ += kFrameHeaderSize + length;
    return std::optional(waiting.substr(kFrameHeaderSize, length));
}

std::size_t FrameReader::missing() const {
    const std::string_view waiting = std::string_view(buffer_).substr(start_);
    if (waiting.size() < kFrameHeaderSize) return kFrameHeaderSize - waiting.size();
    const std::size_t whole = kFrameHeaderSize + get_length(waiting.data());
    return whole > waiting.size() ? whole - waiting.size() : 0;
}

std::optional<std::size_t> FrameReader::announced() const {
    if (buffer_.size() - start_ < kFrameHeaderSize) return std::nullopt;
    return get_length(buffer_.data() + start_);
}

void FrameReader::skip() {
    skip_ = missing();
    buffer_.clear();
    start_ = 0;
}

void FrameReader::make_room() {
    buffer_.reserve(buffer_.size() + missing());
}

Error malformed_message() {
    return {ErrorCode::ProtocolError, "a message could not be decoded"};
}

}  // namespace sluice
