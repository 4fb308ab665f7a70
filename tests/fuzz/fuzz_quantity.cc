// Memory sizes, generic resources, GPUs, trackable resources.
#include "fuzz.h"
#include "model/quantity.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    if (Result<Megabytes> size = parse_memory(text)) {
        Result<Tres> shown = parse_tres("mem=" + print_memory(*size));
        CHECK(shown && shown->at("mem") == *size);
    }
    for (auto parse : {parse_gres, parse_gpus}) {
        Result<std::vector<GresCount>> list = parse(text);
        if (!list || list->empty()) continue;
        for (const std::string& printed : {print_gres(*list), print_tres_per(*list)}) {
            Result<std::vector<GresCount>> again = parse_gres(printed);
            CHECK(again && *again == *list);
        }
    }
    if (Result<Tres> tres = parse_tres(text)) {
        Result<Tres> again = parse_tres(print_tres(*tres));
        CHECK(again && *again == *tres);
    }
}

}  // namespace sluice
