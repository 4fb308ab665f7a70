// model/signals.h
//
// Signal names as users write them, and --signal.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace sluice {

// "USR1", "SIGUSR1", "usr1", "10".
Result<int> parse_signal(std::string_view text);
std::string_view signal_name(int signal);  // "USR1"; "" for one without a name

// --signal=[{R|B}:]<sig>[@seconds]
struct WarnSignal {
    int signal = 0;
    Seconds before{60};
    bool batch_shell_only = false;   // B:
    bool allow_reservation = false;  // R:
    bool operator==(const WarnSignal&) const = default;
};
Result<WarnSignal> parse_warn_signal(std::string_view text);

}  // namespace sluice
