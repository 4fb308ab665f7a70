// Signal names and --signal.
#include <string>

#include "fuzz.h"
#include "model/signals.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    if (Result<int> signal = parse_signal(text)) {
        CHECK(*signal >= 1 && *signal <= 64);
        std::string_view name = signal_name(*signal);
        if (!name.empty()) CHECK(*parse_signal(name) == *signal);
    }
    if (Result<WarnSignal> warn = parse_warn_signal(text)) {
        std::string flags =
            std::string(warn->allow_reservation ? "R" : "") + (warn->batch_shell_only ? "B" : "");
        std::string printed = (flags.empty() ? "" : flags + ":") + std::to_string(warn->signal) +
                              "@" + std::to_string(warn->before.count());
        Result<WarnSignal> again = parse_warn_signal(printed);
        CHECK(again && *again == *warn);
    }
}

}  // namespace sluice
