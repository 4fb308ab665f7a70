#include "core/settings.h"

#include "base/text.h"

namespace sluice {

bool has_preempt_word(std::string_view words, std::string_view word) {
    for (std::string_view each : split(words, ',')) {
        if (equals_ignoring_case(trim(each), word)) return true;
    }
    return false;
}

PreemptMode preempt_mode_in(std::string_view words) {
    if (has_preempt_word(words, "SUSPEND")) return PreemptMode::Suspend;
    if (has_preempt_word(words, "REQUEUE")) return PreemptMode::Requeue;
    if (has_preempt_word(words, "CANCEL")) return PreemptMode::Cancel;
    return PreemptMode::Off;
}

}  // namespace sluice
