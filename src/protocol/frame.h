// protocol/frame.h
//
// Splits a stream of bytes into messages: four bytes of length, little endian, then the message. It
// does no I/O.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

// The versions that this build speaks. Two peers use the newest one that both know.
constexpr std::uint32_t kProtocolVersionMin = 2;
constexpr std::uint32_t kProtocolVersionMax = 2;
constexpr std::size_t kFrameHeaderSize = 4;
constexpr std::size_t kHelloSizeMax = 64u << 10;       // before authentication
constexpr std::size_t kStepInputSizeMax = 256u << 10;  // from srun to a step: each task gets a copy
constexpr std::size_t kFrameSizeMax = 32u << 20;       // requests, reports and orders
constexpr std::size_t kReplySizeMax = 512u << 20;      // listings of very large clusters

void append_frame(std::string& out, const google::protobuf::MessageLite& message);

// The frames in what has arrived so far. A length over the limit is refused when its four bytes
// are there: memory grows with what was received, never with what was announced.
class FrameReader {
public:
    explicit FrameReader(std::size_t size_max = kFrameSizeMax) : size_max_(size_max) {}

    void set_size_max(std::size_t size_max) { size_max_ = size_max; }
    void feed(std::string_view bytes);
    // The next whole message, if there is one; the view holds until the next feed(). After an error
    // the stream cannot be trusted any more, and every further call gives the same error.
    Result<std::optional<std::string_view>> next();
    // At least so many bytes are missing from the current message. A caller that reads no more than
    // this leaves the bytes of the next message in the stream.
    std::size_t missing() const;
    // The length of the message that has begun, once it was announced.
    std::optional<std::size_t> announced() const;
    // That message is not wanted: what is here of it is dropped, and the rest as it arrives.
    void skip();
    bool is_skipping() const { return skip_ > 0; }
    // For all that is missing, at once: only where the sender is trusted to mean the length it
    // announced.
    void make_room();

private:
    std::size_t size_max_;
    std::string buffer_;
    std::size_t start_ = 0;  // of what has not been given out
    std::size_t skip_ = 0;   // bytes of an unwanted message that have not arrived yet
};

Error malformed_message();

// The message in a frame.
template <typename Message>
Result<Message> decode(std::string_view bytes) {
    Message message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return malformed_message();
    }
    return message;
}

}  // namespace sluice
