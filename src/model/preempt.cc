#include "model/preempt.h"

#include <algorithm>

#include "base/text.h"

namespace sluice {

PreemptWords parse_preempt_words(std::string_view text) {
    PreemptWords words;
    auto raise = [&](PreemptMode mode) { words.mode = std::max(words.mode, mode); };
    for (std::string_view each : split(text, ',')) {
        const std::string_view word = trim(each);
        if (equals_ignoring_case(word, "CANCEL")) raise(PreemptMode::Cancel);
        if (equals_ignoring_case(word, "REQUEUE")) raise(PreemptMode::Requeue);
        if (equals_ignoring_case(word, "SUSPEND")) raise(PreemptMode::Suspend);
        words.gang = words.gang || equals_ignoring_case(word, "GANG");
        words.within = words.within || equals_ignoring_case(word, "WITHIN");
        words.only_lower_priority =
            words.only_lower_priority || equals_ignoring_case(word, "PRIORITY");
    }
    return words;
}

std::string print(const PreemptWords& words) {
    constexpr std::string_view kModes[] = {"", "CANCEL", "REQUEUE", "SUSPEND"};
    std::string text;
    auto add = [&](std::string_view word) {
        if (!text.empty()) text += ',';
        text += word;
    };
    if (words.within) add("WITHIN");
    if (words.only_lower_priority) add("PRIORITY");
    if (words.gang) add("GANG");
    if (words.mode != PreemptMode::Off) add(kModes[static_cast<std::size_t>(words.mode)]);
    return text.empty() ? "OFF" : text;
}

}  // namespace sluice
