// Dependencies and licences as users write them.
#include "fuzz.h"
#include "model/dependency.h"
#include "model/license.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    Result<Dependency> dependency = parse_dependency(text);
    if (dependency) {
        std::string printed = print_dependency(*dependency);
        constexpr std::string_view kMark = "(unfulfilled)";
        for (std::size_t at = 0; (at = printed.find(kMark, at)) != std::string::npos;) {
            printed.erase(at, kMark.size());
        }
        Result<Dependency> again = parse_dependency(printed);
        CHECK(again && *again == *dependency);
    }
    Result<LicenseDemand> demand = parse_licenses(text);
    if (demand && !demand->any) {
        Result<LicenseDemand> again = parse_licenses(print_licenses(demand->wanted));
        CHECK(again && again->wanted == demand->wanted);
    }
}

}  // namespace sluice
