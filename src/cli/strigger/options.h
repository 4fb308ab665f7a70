// cli/strigger/options.h
//
// What strigger can be asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "model/trigger.h"
#include "surface/option_help.h"

namespace sluice {

struct TriggerOptions {
    enum class Verb : std::uint8_t { None, Set, Get, Clear };
    Verb verb = Verb::None;
    std::vector<TriggerEvent> events;  // --set: one trigger each; --get: any of them
    TriggerChoice choice;
    TriggerRequest request;  // without the event and the job
    bool node_given = false;
    bool no_header = false;
    bool quiet = false;
    bool verbose = false;
};

// Nothing: the tool ends with `exit_code`, and what there was to say has been said.
std::optional<TriggerOptions> parse_trigger_options(const Invocation& invocation, Streams& streams,
                                                    int& exit_code);
std::vector<OptionHelp> strigger_option_help();

}  // namespace sluice
