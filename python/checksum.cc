// What sluice_data's Python calls by ctypes: CRC-32C at the speed of the processor.
#include "data/crc32c.h"

extern "C" std::uint32_t sluice_crc32c(const char* data, std::size_t size, std::uint32_t before) {
    return sluice::data::crc32c({data, size}, before);
}
