// cli/sacctmgr/sacctmgr.h
//
// Shows and changes what accounting knows: so far, qualities of service.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/report.h"

namespace sluice {

int run_sacctmgr(const Invocation& invocation, Client& client, Streams& streams);

// One command: its options, and the words after "add qos" or its like.
struct AccountingCommand {
    const Invocation& invocation;
    Client& client;
    Streams& streams;
    Bars bars = Bars::None;
    bool header = true;
    bool immediate = false;  // changes are made without asking
    bool quiet = false;      // and without printing it
    std::vector<std::string> words = {};
};

int show_qos(AccountingCommand& command);
int add_qos(AccountingCommand& command);
int modify_qos(AccountingCommand& command);
int delete_qos(AccountingCommand& command);

}  // namespace sluice
