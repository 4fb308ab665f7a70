// PrologFlags: when the Prolog of a job runs, and what else happens when a job gets its nodes.
#include "config/setters.h"

namespace sluice {

namespace {

struct FlagWord {
    std::string_view word;
    bool PrologFlags::*flag;
    bool implies_alloc;
};
// In the order in which they are printed.
constexpr FlagWord kFlagWords[] = {
    {"Alloc", &PrologFlags::alloc, true},
    {"Contain", &PrologFlags::contain, true},
    {"DeferBatch", &PrologFlags::defer_batch, true},
    {"ForceRequeueOnFail", &PrologFlags::force_requeue, true},
    {"NoHold", &PrologFlags::no_hold, true},
    {"Serial", &PrologFlags::serial, false},
    {"X11", &PrologFlags::x11, true},
};
constexpr std::string_view kRefused = "RunInJob";  // unsupported.cc says so

Error refused(const Config& config, std::string_view why) {
    return {ErrorCode::ConfigInvalid,
            fmt::format("{}: PrologFlags{}", base_name(config.path), why)};
}

}  // namespace

Result<void> complete_prolog_flags(Config& config) {
    const auto written = config.as_written.find("PrologFlags");
    if (written == config.as_written.end()) return {};
    PrologFlags& flags = config.prolog_flags;
    for (std::string_view word : split(written->second, ',')) {
        word = trim(word);
        if (word.empty() || equals_ignoring_case(word, kRefused)) continue;
        const auto* found = std::find_if(
            std::begin(kFlagWords), std::end(kFlagWords),
            [&](const FlagWord& each) { return equals_ignoring_case(each.word, word); });
        if (found == std::end(kFlagWords)) {
            return refused(config, fmt::format("={}: expected Alloc, Contain, DeferBatch, "
                                               "ForceRequeueOnFail, NoHold, Serial or X11",
                                               word));
        }
        flags.*found->flag = true;
        if (found->implies_alloc) flags.alloc = true;
    }
    if (flags.x11) flags.contain = true;
    if (flags.no_hold && flags.contain)
        return refused(config, ": NoHold cannot be combined with Contain or X11");
    return {};
}

std::string print_prolog_flags(const PrologFlags& flags) {
    std::string text;
    for (const FlagWord& each : kFlagWords) {
        if (flags.*each.flag) text += fmt::format("{}{}", text.empty() ? "" : ",", each.word);
    }
    return text.empty() ? "(null)" : text;
}

}  // namespace sluice
