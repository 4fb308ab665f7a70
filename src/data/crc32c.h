// data/crc32c.h
//
// CRC-32C (Castagnoli), with the instruction of the processor where it has one.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::data {

// Of `bytes` that follow those of which `before` is the checksum; 0: none.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);
std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before = 0);

// As TFRecord files have it: a checksum of bytes that contain checksums is weak.
constexpr std::uint32_t masked(std::uint32_t crc) {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace sluice::data
