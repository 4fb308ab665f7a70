#include "data/crc32c.h"

#include <array>
#include <cstring>

namespace sluice::data {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected

constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
        table[byte] = crc;
    }
    return table;
}();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes,
                                                               std::uint32_t before) {
    std::uint64_t crc = ~before;
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        crc = __builtin_ia32_crc32di(crc, word);
    }
    auto narrow = static_cast<std::uint32_t>(crc);
    for (; left > 0; ++at, --left)
        narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(*at));
    return ~narrow;
}

bool has_instruction() {
    static const bool has = __builtin_cpu_supports("sse4.2");
    return has;
}
#else
std::uint32_t by_instruction(std::string_view bytes, std::uint32_t before) {
    return crc32c_by_table(bytes, before);
}
bool has_instruction() {
    return false;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before) {
    std::uint32_t crc = ~before;
    for (const char each : bytes)
        crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(each)) & 0xff];
    return ~crc;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
    return has_instruction() ? by_instruction(bytes, before) : crc32c_by_table(bytes, before);
}

}  // namespace sluice::data
