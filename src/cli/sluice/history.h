// cli/sluice/history.h
//
// sluice import history: what ran under Slurm, from the output of sacct, into the accounting
// database.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

struct HistoryOptions {
    std::vector<std::string> files;  // absolute
    std::string cluster;             // empty: the own one
    char delimiter = '|';
    bool skip_bad = false, dry_run = false;
};

// Nothing is imported if a line of any file is bad, unless bad lines are to be skipped.
int import_history(const Invocation& invocation, const HistoryOptions& options, Client& client,
                   Streams& streams);

}  // namespace sluice
