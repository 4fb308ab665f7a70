// cli/sshare/options.h
//
// What sshare was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "surface/json.h"
#include "surface/option_help.h"
#include "surface/report.h"

namespace sluice {

struct SshareOptions {
    std::vector<std::string> accounts;  // empty: all
    std::vector<std::string> users;     // empty: the caller, unless all_users
    bool all_users = false;
    bool users_only = false;
    bool long_list = false;
    bool partitions = false;
    bool no_header = false;
    bool verbose = false;
    Bars bars = Bars::None;
    std::optional<std::string> format;
    std::optional<JsonStyle> json;
};

// Nothing: help, a list, the version or an error has been printed; exit with `exit_code`.
std::optional<SshareOptions> parse_sshare_options(const Invocation& invocation, Streams& streams,
                                                  int& exit_code);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sshare_option_help();

}  // namespace sluice
