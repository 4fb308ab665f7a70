// cli/scontrol/scontrol.h
//
// Shows and changes the state of the cluster: one command from its arguments, or many from a
// prompt.
#pragma once

#include <string_view>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_scontrol(const Invocation& invocation, Client& client, Streams& streams);
int run_scontrol_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

// The options and commands as --help and the manual page list them.
struct ControlCommandHelp {
    std::string_view name;
    std::string_view operands;
    std::string_view text;
};
std::vector<OptionHelp> control_option_help();
std::vector<ControlCommandHelp> control_command_help();

}  // namespace sluice
