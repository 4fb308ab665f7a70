// tests/fuzz/fuzz.h
//
// The shape of a fuzz target: foreign bytes in, and CHECKs of what must hold for every input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace sluice {

void fuzz_one(std::string_view text);

}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sluice::fuzz_one({reinterpret_cast<const char*>(data), size});
    return 0;
}
