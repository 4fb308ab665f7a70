// cli/sacctmgr/sacctmgr.h
//
// Shows and changes what accounting knows: accounts, users, associations, QOS and more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/json.h"
#include "surface/report.h"

namespace sluice {

int run_sacctmgr(const Invocation& invocation, Client& client, Streams& streams);

// One command: its options, and the words after "add account" or its like.
struct AccountingCommand {
    const Invocation& invocation;
    Client& client;
    Streams& streams;
    Bars bars = Bars::None;
    bool header = true;
    bool immediate = false;  // changes are made without asking
    bool quiet = false;      // and without printing them
    bool read_only = false;
    bool with_associations = false;  // -s
    std::optional<JsonStyle> json = {};
    std::vector<std::string> words = {};

    // " text" on standard error; the exit code 1.
    int say(std::string_view text) const;
    // "sacctmgr: error: text"; the exit code 1.
    int fail(std::string_view text) const;
    // Asks the user, unless -i is given.
    bool is_agreed(std::string_view question) const;
};

constexpr std::string_view kCommitQuestion = "Would you like to commit changes?";

}  // namespace sluice
