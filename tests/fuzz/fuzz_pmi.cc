// Any bytes as what a task writes to PMI_FD, in pieces: commands that are printed as they were
// read, or an error. And as the layout of a step's tasks.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/process_mapping.h"
#include "stepd/pmi_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (sluice::PmiDialect dialect : {sluice::PmiDialect::One, sluice::PmiDialect::Two}) {
        sluice::PmiReader reader;
        reader.set_dialect(dialect);
        for (const std::string_view piece : {text.substr(0, size / 2), text.substr(size / 2)}) {
            reader.feed(piece);
            for (auto command = reader.next(); command && *command; command = reader.next()) {
                (void)sluice::print_pmi(dialect, **command);
            }
        }
    }
    for (std::size_t tasks : {1, 2, 64}) {
        if (auto nodes = sluice::parse_process_mapping(text, tasks)) CHECK(nodes->size() == tasks);
    }
    return 0;
}
