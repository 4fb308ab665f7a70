// cli/sdata/options.h
//
// The command line of sdata: a command, its options and its operands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "cli/sdata/sync_command.h"
#include "data/plan.h"

namespace sluice {

struct SdataOptions {
    std::string command;
    std::vector<std::string> operands;
    data::PackOptions pack;
    unsigned threads = 2;
    bool shows_shards = false;
    bool writes = true;
    SyncOptions sync;
};

// Nothing: help or an error was printed, and `code` is the exit code.
std::optional<SdataOptions> parse_sdata_options(const Invocation& invocation, Streams& streams,
                                                int& code);

}  // namespace sluice
