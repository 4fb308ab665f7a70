// Batch scripts: directives of any bytes are read or refused, never more.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "surface/script.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    std::string_view script(reinterpret_cast<const char*>(data), size);
    static_cast<void>(check_script(script));
    JobOptions options;
    if (apply_directives(options, script, "script", false, Time{})) {
        static_cast<void>(complete_options(options, kSbatch));
    }
    return 0;
}
