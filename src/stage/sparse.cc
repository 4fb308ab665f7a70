#include "stage/sparse.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "data/crc32c.h"
#include "os/error.h"

namespace sluice::stage {

namespace {

constexpr std::size_t kBufferSize = 1u << 20;
constexpr std::size_t kBlock = 64u << 10;

bool is_zero(std::string_view bytes) {
    return !bytes.empty() && bytes[0] == 0 &&
           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

Result<void> write_at(int file, std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return os_error("write");
        bytes.remove_prefix(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
    return {};
}

// The checksum of a run of zeros after `before`.
std::uint32_t crc_of_zeros(std::uint64_t bytes, std::uint32_t before) {
    static const std::vector<char> zeros(kBufferSize, 0);
    // All of a large hole has the same checksum, which is computed once.
    constexpr std::uint64_t kWhole = 8u << 20;
    if (before == 0 && bytes == kWhole) {
        static const std::uint32_t whole = [] {
            std::uint32_t crc = 0;
            for (std::uint64_t at = 0; at < kWhole; at += kBufferSize)
                crc = data::crc32c({zeros.data(), kBufferSize}, crc);
            return crc;
        }();
        return whole;
    }
    for (; bytes > 0; bytes -= std::min<std::uint64_t>(bytes, kBufferSize))
        before = data::crc32c({zeros.data(), std::min<std::uint64_t>(bytes, kBufferSize)}, before);
    return before;
}

// The end of the hole at `offset`; `offset` itself where there is data.
std::uint64_t end_of_hole(int file, std::uint64_t offset, std::uint64_t end) {
    const off_t data = lseek(file, static_cast<off_t>(offset), SEEK_DATA);
    if (data < 0) return errno == ENXIO ? end : offset;  // nothing but a hole, or not known here
    return std::min(static_cast<std::uint64_t>(data), end);
}

}  // namespace

Result<std::uint32_t> copy_range(int source, int target, Range range, std::uint32_t before,
                                 std::vector<char>& buffer) {
    buffer.resize(std::max(buffer.size(), kBufferSize));
    const std::uint64_t end = range.offset + range.bytes;
    std::uint32_t crc = before;
    for (std::uint64_t at = range.offset; at < end;) {
        // Only a large range is worth the question.
        const std::uint64_t data = range.bytes > kBufferSize ? end_of_hole(source, at, end) : at;
        if (data > at) {
            crc = crc_of_zeros(data - at, crc);
            at = data;
            continue;
        }
        const std::size_t size = std::min<std::uint64_t>(kBufferSize, end - at);
        TRY(read_range(source, at, {buffer.data(), size}));
        const std::string_view bytes(buffer.data(), size);
        crc = data::crc32c(bytes, crc);
        TRY(write_with_holes(target, at, bytes));
        at += size;
    }
    return crc;
}

Result<void> write_with_holes(int file, std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        std::size_t size = std::min(kBlock, bytes.size());
        if (is_zero(bytes.substr(0, size))) {
            bytes.remove_prefix(size);
            offset += size;
            continue;
        }
        // As much as has data, in one write.
        while (size < bytes.size() && !is_zero(bytes.substr(size, kBlock)))
            size += std::min(kBlock, bytes.size() - size);
        TRY(write_at(file, offset, bytes.substr(0, size)));
        bytes.remove_prefix(size);
        offset += size;
    }
    return {};
}

Result<void> read_range(int file, std::uint64_t offset, std::span<char> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return os_error("read");
        if (count == 0) return Error{ErrorCode{}, "it is shorter than it was"};
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
    return {};
}

}  // namespace sluice::stage
