// cli/sdata/sdata.h
//
// sdata: datasets in a few large files (pack, ls, cat, verify, unpack, bench), checkpoints (sync),
// and the disk space of directories (usage).
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_sdata(const Invocation& invocation, Client& client, Streams& streams);

std::vector<OptionHelp> sdata_option_help();

}  // namespace sluice
